package store

type results struct{}
