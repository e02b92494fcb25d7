SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Where scripts/deps puts the driver that the browser tests start.
export PLAYWRIGHT_DRIVER_PATH := $(CURDIR)/e2e/driver

LINT := go tool -modfile=tools/go.mod golangci-lint

.PHONY: help demo run build test test-slow unit e2e shots lint vet drift charts generate fmt bench deps clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## Serve sample data from memory on http://127.0.0.1:8080
	bin/dashboard serve --demo

run: build ## Serve on http://127.0.0.1:8080 with the embedded store in ./data
	bin/dashboard serve

build: ## Build bin/dashboard
	CGO_ENABLED=0 go build -trimpath -o bin/dashboard ./cmd/dashboard

test: deps drift lint vet unit e2e ## Install what is missing and run every check and test

test-slow: deps ## Every test five times in random order, with the race detector, and 200 killed imports
	go test -race -shuffle=on -count=5 -timeout=60m ./...
	DASHBOARD_TEST_KILLS=200 go test -count=1 -timeout=60m -run TestKilledImports ./cmd/dashboard

unit: ## The tests of all packages but e2e, with the race detector
	@go test -race $$(go list ./... | grep -v /e2e)

e2e: ## The browser tests against the real program
	@go test -count=1 ./e2e/...

shots: deps ## Write a picture of every page to e2e/shots, and docs/overview.png
	@go test -count=1 -tags shots -run TestShots ./e2e

lint: ## golangci-lint, pinned in tools/go.mod
	@$(LINT) run ./...

vet:
	@go vet ./...

drift: ## Fail when formatting, generated code or go.mod is behind its source
	@scripts/drift

charts: ## Rebuild static/echarts.min.js from static/echarts
	cd static/echarts && npm ci --ignore-scripts --no-audit --no-fund && npm run build

generate: ## Regenerate the Go code of the templ components
	go tool templ generate

fmt: ## Format Go and templ sources
	go tool templ fmt .
	gofmt -w .

bench: ## Run the benchmarks with a limit and print one table, in about five minutes
	@scripts/bench

deps: ## Install what the tests need (Debian, Ubuntu)
	@scripts/deps

clean: ## Remove what was built and installed here; data stays
	rm -rf bin e2e/node_modules e2e/driver static/echarts/node_modules
