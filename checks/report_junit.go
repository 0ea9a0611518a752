package checks

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// JUnit reports as Jenkins and others read them: one suite a session, one
// testcase a signal, and a suite for the assertions. A testcase fails when its
// signal trips the gate; what was found else stands in its system-out.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string           `xml:"name,attr"`
		Tests      int              `xml:"tests,attr"`
		Failures   int              `xml:"failures,attr"`
		Errors     int              `xml:"errors,attr"`
		Skipped    int              `xml:"skipped,attr"`
		Properties *junitProperties `xml:"properties,omitempty"`
		Cases      []junitCase      `xml:"testcase"`
	}
	junitProperties struct {
		List []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML.
func (r *Report) WriteJUnit(w io.Writer) error {
	all := junitSuites{Name: "mcpsnoop check"}
	for _, s := range r.Sessions {
		all.Suites = append(all.Suites, r.junitSession(s))
	}
	if len(r.Assertions) > 0 {
		all.Suites = append(all.Suites, r.junitAssertions())
	}
	for _, s := range all.Suites {
		all.Tests += s.Tests
		all.Failures += s.Failures
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Report) junitSession(s *SessionReport) junitSuite {
	suite := junitSuite{Name: Plain(s.name()), Properties: &junitProperties{[]junitProperty{{"session", Plain(s.ID)}, {"log", Plain(s.Path)}}}}
	for _, signal := range signals {
		c := junitCase{Name: string(signal), Class: "mcpsnoop." + Plain(s.name())}
		if text, n := s.listing(signal); n > 0 {
			if r.gate.trips(signal) {
				c.Failure = &junitFailure{Message: fmt.Sprintf("%d findings", n), Type: string(signal), Text: text}
				if n == 1 {
					c.Failure.Message = "1 finding"
				}
				suite.Failures++
			} else {
				c.Out = text
			}
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Tests = len(suite.Cases)
	return suite
}

// listing are the findings of one signal, one a line, and their count.
func (s *SessionReport) listing(signal Signal) (string, int) {
	var b strings.Builder
	n := 0
	for _, f := range s.Findings {
		if f.Signal == signal {
			fmt.Fprintf(&b, "%s %s %s%s\n", f.place(), f.Rule.ID, Plain(f.text()), f.times())
			n += f.Count
		}
	}
	return b.String(), n
}

func (r *Report) junitAssertions() junitSuite {
	suite := junitSuite{Name: "assertions", Tests: len(r.Assertions)}
	for _, a := range r.Assertions {
		c := junitCase{Name: Plain(a.Flag + " " + a.Value), Class: "mcpsnoop.assertions"}
		if a.OK {
			c.Out = Plain(a.Message)
		} else {
			c.Failure = &junitFailure{Message: Plain(a.Message), Type: "assertion", Text: Plain(a.Message)}
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}
