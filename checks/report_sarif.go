package checks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// SARIF 2.1.0, as far as a report needs it.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool       `json:"tool"`
		Automation sarifAutomation `json:"automationDetails"`
		ColumnKind string          `json:"columnKind"`
		Results    []sarifResult   `json:"results"`
	}
	sarifAutomation struct {
		ID string `json:"id"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID            string        `json:"id"`
		Short         sarifText     `json:"shortDescription"`
		Full          sarifText     `json:"fullDescription"`
		HelpURI       string        `json:"helpUri,omitempty"`
		Help          sarifMarkdown `json:"help"`
		Configuration sarifConfig   `json:"defaultConfiguration"`
		Properties    sarifTags     `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifMarkdown struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifTags struct {
		Tags      []string `json:"tags"`
		Precision string   `json:"precision"`
		Severity  string   `json:"problem.severity"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   sarifFacts        `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifFacts struct {
		Signal  Signal `json:"signal,omitempty"`
		Session string `json:"session,omitempty"`
		Seq     uint64 `json:"seq,omitempty"`
		Count   int    `json:"count,omitempty"`
		Tool    string `json:"tool,omitempty"`
		Method  string `json:"method,omitempty"`
		Path    string `json:"path,omitempty"`
	}
)

// maxSARIF is the most results of a report: code scanning shows no more.
const maxSARIF = 5000

// truncatedRule is the id of the result that says that there are more.
const truncatedRule = "mcpsnoop/report-truncated"

// WriteSARIF writes the report for code scanning: one result a finding, those
// that fail the check first. dir is the working directory: logs below it are
// named relative to it. version is that of the program.
func (r *Report) WriteSARIF(w io.Writer, dir, version string) error {
	b := sarifBuilder{r: r, dir: dir, rules: map[string]int{}, seen: map[string]int{}, used: []sarifRule{}, results: []sarifResult{}}
	for _, gated := range [...]bool{true, false} {
		for _, s := range r.Sessions {
			for _, f := range s.Findings {
				if r.gate.trips(f.Signal) == gated {
					b.add(s, f, gated)
				}
			}
		}
	}
	if b.left > 0 {
		b.truncated()
	}
	return encode(w, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{
			Tool: sarifTool{sarifDriver{
				Name: "mcpsnoop", Version: version, InformationURI: "https://github.com/mcpsnoop/mcpsnoop", Rules: b.used,
			}},
			Automation: sarifAutomation{"mcpsnoop/"}, ColumnKind: "unicodeCodePoints", Results: b.results,
		}},
	})
}

type sarifBuilder struct {
	r       *Report
	dir     string
	rules   map[string]int // index in used
	used    []sarifRule
	seen    map[string]int // fingerprints so far
	results []sarifResult
	left    int // findings that have no room
}

func (b *sarifBuilder) add(s *SessionReport, f *Finding, gated bool) {
	if len(b.results) >= maxSARIF-1 {
		b.left++
		return
	}
	level := "note"
	if gated {
		level = "error"
	}
	res := sarifResult{
		RuleID: f.Rule.ID, RuleIndex: b.rule(f.Rule), Level: level, Message: sarifText{Plain(f.text() + f.times())},
		Fingerprints: map[string]string{"primaryLocationLineHash": b.fingerprint(s, f)},
		Properties:   sarifFacts{f.Signal, s.ID, f.Seq, f.Count, f.Tool, f.Method, f.Path},
	}
	if uri := artifactURI(s.logOf(f), b.dir); uri != "" {
		res.Locations = []sarifLocation{{sarifPhysical{sarifArtifact{uri}, sarifRegion{max(f.Line, 1), 1}}}}
	}
	b.results = append(b.results, res)
}

// fingerprint is the same in every run in which the same thing is wrong with
// the same server: neither ids of sessions nor numbers of frames are in it.
func (b *sarifBuilder) fingerprint(s *SessionReport, f *Finding) string {
	h := sha256.Sum256([]byte(strings.Join([]string{f.Rule.ID, s.Label, f.Method, f.Tool, f.Path}, "\x00")))
	k := hex.EncodeToString(h[:8])
	b.seen[k]++
	return fmt.Sprintf("%s:%d", k, b.seen[k])
}

func (b *sarifBuilder) rule(r *Rule) int {
	if i, ok := b.rules[r.ID]; ok {
		return i
	}
	level, severity := "note", "recommendation"
	switch r.Level {
	case Must:
		level, severity = "error", "error"
	case Should:
		level, severity = "warning", "warning"
	case Note:
	}
	text := r.Help + "\n\nTo mend it: " + r.Fix
	markdown := text
	if r.Spec != "" {
		markdown += "\n\n[Specification](" + r.Spec + ")"
	}
	b.used = append(b.used, sarifRule{
		ID: r.ID, Short: sarifText{r.Title}, Full: sarifText{r.Title + ". " + r.Help}, HelpURI: r.Spec,
		Help: sarifMarkdown{text, markdown}, Configuration: sarifConfig{level},
		Properties: sarifTags{[]string{"mcp", string(r.Signal)}, "high", severity},
	})
	b.rules[r.ID] = len(b.used) - 1
	return len(b.used) - 1
}

func (b *sarifBuilder) truncated() {
	i := b.rule(&Rule{
		ID: truncatedRule, Signal: Info, Level: Note, Title: "The report is cut",
		Help: "Code scanning shows 5,000 results; those that fail the check come first.",
		Fix:  "Use --format json for all of them, or --ignore and --where for fewer.",
	})
	b.results = append(b.results, sarifResult{
		RuleID: truncatedRule, RuleIndex: i, Level: "note", Message: sarifText{fmt.Sprintf("%d more findings are not in this report", b.left)},
		Fingerprints: map[string]string{"primaryLocationLineHash": "report-truncated:1"}, Properties: sarifFacts{Count: b.left},
	})
}

// relative is the path of a log below the working directory, with slashes.
func relative(path, dir string) (string, bool) {
	if path == "" || path == "-" {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// artifactURI names a log: relative below the working directory, as a file URI
// elsewhere, not at all when it was read from standard input.
func artifactURI(path, dir string) string {
	if rel, ok := relative(path, dir); ok {
		parts := strings.Split(rel, "/")
		for i := range parts {
			parts[i] = url.PathEscape(parts[i])
		}
		return strings.Join(parts, "/")
	}
	if path == "" || path == "-" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/x
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// logOf is the file in which a finding stands: the log, or a later segment.
func (s *SessionReport) logOf(f *Finding) string {
	if f.Segment <= 1 || s.Path == "" || s.Path == "-" {
		return s.Path
	}
	for _, ext := range [...]string{".jsonl.zst", ".jsonl"} {
		if base, ok := strings.CutSuffix(s.Path, ext); ok {
			return fmt.Sprintf("%s.%04d%s", base, f.Segment, ext)
		}
	}
	return s.Path
}

// name is the label of the session, else its id.
func (s *SessionReport) name() string {
	if s.Label != "" {
		return s.Label
	}
	return s.ID
}

// times says how often, when it was more than once.
func (f *Finding) times() string {
	if f.Count > 1 {
		return fmt.Sprintf(" (%d times)", f.Count)
	}
	return ""
}

// Formats lists the formats that Write knows.
func Formats() []string { return slices.Clone(formats) }

var formats = []string{"text", "json", "junit", "sarif", "github"}

// Write writes the report in one of Formats. dir is the working directory and
// version that of the program, for the formats that tell them.
func (r *Report) Write(w io.Writer, format, dir, version string) error {
	switch format {
	case "text":
		return r.WriteText(w)
	case "json":
		return r.WriteJSON(w)
	case "junit":
		return r.WriteJUnit(w)
	case "sarif":
		return r.WriteSARIF(w, dir, version)
	case "github":
		return r.WriteGitHub(w, dir)
	}
	return fmt.Errorf("%q is no format of a report; want one of %s", format, strings.Join(formats, ", "))
}
