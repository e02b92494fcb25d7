package web

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
)

const contentTypeCSV = "text/csv; charset=utf-8"

// origin is what every answer says of where it comes from.
type origin struct {
	ComputedAt time.Time    `json:"computed_at"`
	Engine     query.Engine `json:"engine"`
}

func originOf[T any](a query.Answer[T]) origin { return origin{a.ComputedAt, a.Engine} }

// table is the rows of an answer, for CSV.
type table struct {
	header []string
	rows   [][]string
}

// respond sends an answer as JSON, or its rows as CSV when those are asked for.
func respond(c echo.Context, body any, rows table) error {
	if !wantsCSV(c) {
		return c.JSON(http.StatusOK, body)
	}
	return writeCSV(c, "", rows)
}

// writeCSV sends rows as CSV, as a download when they have a file name.
func writeCSV(c echo.Context, fileName string, rows table) error {
	c.Response().Header().Set(echo.HeaderContentType, contentTypeCSV)
	if fileName != "" {
		c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="`+fileName+`"`)
	}
	w := csv.NewWriter(c.Response())
	if err := w.Write(rows.header); err != nil {
		return err
	}
	return w.WriteAll(rows.rows)
}

// wantsCSV reports whether the caller asks for CSV, by parameter or by header.
func wantsCSV(c echo.Context) bool {
	if f := c.QueryParam("format"); f != "" {
		return f == "csv"
	}
	accept := c.Request().Header.Get(echo.HeaderAccept)
	return strings.Contains(accept, "text/csv")
}

func intText(n int64) string { return strconv.FormatInt(n, 10) }

// rateText is empty for an undefined rate.
func rateText(r *float64) string {
	if r == nil {
		return ""
	}
	return strconv.FormatFloat(*r, 'g', -1, 64)
}

// defined returns a rate for JSON: null when it is undefined.
func defined(rate float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &rate
}

// dayOrNull returns a day for JSON: null when there is none.
func dayOrNull(d cohort.Day, ok bool) *cohort.Day {
	if !ok {
		return nil
	}
	return &d
}

func dayText(d *cohort.Day) string {
	if d == nil {
		return ""
	}
	return d.String()
}
