package rest

import (
	"bufio"
	"context"
	"errors"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"atrium/internal/apierror"
	"atrium/internal/export"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/reports"
)

// Limits of an export. It holds one page of rows and this buffer in memory.
const (
	exportRows     = 1_000_000
	exportTime     = 10 * time.Minute // of the whole export; rights that end meanwhile end at the latest after it
	exportPageTime = 35 * time.Second // for reading a page of rows and sending it
	exportBuffer   = 32 << 10
)

// exportRoutes returns the routes of files. They belong to no area of the API.
func exportRoutes(p *platform.Platform, o Options) []route {
	return []route{
		exportRoute(o, "ExportFindings", export.Findings, p.Exports.ReadFindings, findingFilters()...),
		exportRoute(o, "ExportPackages", export.Packages, p.Exports.ReadPackages, packageFilters()...),
		sbomRoute(p, o),
	}
}

// sbomRoute returns the route of the SBOM of an image.
func sbomRoute(p *platform.Platform, o Options) route {
	text := reflect.TypeFor[string]()
	return route{
		name: "ExportSbom", method: http.MethodGet, pattern: "/export/sbom", reportsQuery: true,
		query: []parameter{{name: "image", valueType: text, required: true}, {name: "architecture", valueType: text}, {name: "format", valueType: text}}, files: export.SBOMFormats,
		call: func(r *request) (any, error) {
			if err := core.RequireAuthenticated(r.Context()); err != nil {
				return nil, err
			}
			req := reports.SBOMRequest{Image: r.query.Get("image"), Malformed: r.malformed}
			if asked := r.query["architecture"]; len(asked) > 0 {
				req.Architecture = &asked[0]
			}
			format, err := chooseFormat(r, export.SBOMFormats, &req.Malformed)
			if err != nil {
				return nil, err
			}
			body := newExportBody(r.writer, "sbom", format)
			return nil, sendExport(o, r, body, export.NewSBOMWriter(body.buffer, format, o.version()), func(ctx context.Context, yield func([]*reports.SBOMPage) error) error {
				return p.SBOMs.Read(ctx, req, func(page *reports.SBOMPage) error { return yield([]*reports.SBOMPage{page}) })
			})
		},
	}
}

// exportRoute returns the route of a file with all rows that run passes on.
func exportRoute[T, F any](o Options, name string, list export.List[T], run func(context.Context, reports.ExportRequest[F], func([]T) error) error, filters ...filter[core.ListRequest[F]]) route {
	filters = append(filters,
		value("within", parseText[core.UID], func(l *core.ListRequest[F]) *core.UID { return &l.UIDP.DescendantsOf }),
		value("orderBy", parseOptional, func(l *core.ListRequest[F]) *string { return &l.OrderBy }))
	return route{
		name: name, method: http.MethodGet, pattern: "/export/" + list.Name, reportsQuery: true,
		query: append(parametersOf(filters), parameter{name: "format", valueType: reflect.TypeFor[string]()}), files: list.Formats,
		call: func(r *request) (any, error) {
			if err := core.RequireAuthenticated(r.Context()); err != nil {
				return nil, err
			}
			asked := listRequest(r, filters)
			format, err := chooseFormat(r, list.Formats, &asked.Malformed)
			if err != nil {
				return nil, err
			}
			req := reports.ExportRequest[F]{Within: asked.UIDP.DescendantsOf, Filter: asked.Filter, OrderBy: asked.OrderBy, MaxRows: exportRows, Malformed: asked.Malformed}
			body := newExportBody(r.writer, list.Name, format)
			return nil, sendExport(o, r, body, list.NewWriter(body.buffer, format, o.ConsoleURL), func(ctx context.Context, yield func([]T) error) error {
				return run(ctx, req, yield)
			})
		},
	}
}

// choiceFilter is a filter by true or false. Without it, both match.
func choiceFilter[F any](name string, at func(F) **bool) filter[core.ListRequest[F]] {
	return choice(name, func(l *core.ListRequest[F]) **bool { return at(l.Filter) })
}

// enumsFilter is a filter by any of several values of an enum, in full or as a CSV file has them.
func enumsFilter[F any, E interface {
	~string
	Values() []string
}](name string, at func(F) *[]E) filter[core.ListRequest[F]] {
	return values(name, parseEnum[E], func(l *core.ListRequest[F]) *[]E { return at(l.Filter) })
}

// parseEnum reads a value of an enum, in full or as a CSV file has it.
func parseEnum[E interface {
	~string
	Values() []string
}](s string) (E, error) {
	value, err := parseText[E](s)
	if whole := fieldmask.EnumPrefix(value.Values()) + s; slices.Contains(value.Values(), whole) {
		return E(whole), nil
	}
	return value, err
}

// An exportBody is the body of a file. Its headers are set when its first part is sent.
type exportBody struct {
	http.ResponseWriter
	buffer *bufio.Writer
	set    func(http.Header)
	isSent bool
}

func newExportBody(w http.ResponseWriter, name string, format export.Format) *exportBody {
	body := &exportBody{ResponseWriter: w, set: func(h http.Header) {
		setPrivateHeaders(h)
		h.Set("Content-Type", format.MediaType())
		h.Set("Content-Disposition", `attachment; filename="`+name+"."+format.Ending()+`"`)
		h.Add("Vary", "Accept")
	}}
	body.buffer = bufio.NewWriterSize(body, exportBuffer)
	return body
}

// Write sends a part of the file.
func (b *exportBody) Write(p []byte) (int, error) {
	if !b.isSent {
		b.isSent = true
		b.set(b.Header())
	}
	return b.ResponseWriter.Write(p)
}

// allowTime sets the time until which the next page must be read and sent. Without it, a client
// that stops reading would keep the page in memory.
func (b *exportBody) allowTime() {
	_ = http.NewResponseController(b.ResponseWriter).SetWriteDeadline(time.Now().Add(exportPageTime))
}

// errHead ends an export for HEAD, when it is known that the export can begin.
var errHead = errors.New("the request asks for headers only")

// sendExport sends a file whose rows run yields. It returns the errors of files of which nothing was
// sent. After that, an error ends the connection, so that no client takes the file for a whole one.
func sendExport[T any](o Options, r *request, body *exportBody, file export.Writer[T], run func(context.Context, func([]T) error) error) error {
	ctx, end := context.WithTimeout(r.Context(), exportTime)
	defer end()
	body.allowTime()
	err := run(ctx, func(rows []T) error {
		if r.Method == http.MethodHead {
			return errHead
		}
		defer body.allowTime()
		return file.Write(rows)
	})
	switch {
	case errors.Is(err, errHead):
		err = nil
	case err == nil:
		err = file.Close()
	}
	if err == nil {
		err = body.buffer.Flush()
	}
	if err == nil && !body.isSent {
		body.set(body.Header()) // the file is empty
	}
	if err == nil || !body.isSent {
		return err
	}
	shown, id := apierror.Show(err, apierror.AreaOf(r.URL.Path)), requestID(body)
	o.errors().Report(r.Context(), shown, id, "")
	_ = file.Fail(o.errors().Status(shown, id)) // the client may have gone
	_ = body.buffer.Flush()
	_ = http.NewResponseController(body.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// chooseFormat returns the format that a request asks for: by the parameter format, or by the
// header Accept, or else the first one. A wrong parameter is a violation.
func chooseFormat(r *request, formats []export.Format, malformed *[]fieldmask.Violation) (export.Format, error) {
	if asked := r.query["format"]; len(asked) > 0 {
		format := export.Format(asked[0])
		if !slices.Contains(formats, format) {
			*malformed = append(*malformed, fieldmask.Violation{Field: "format", Description: "must be one of " + joinFormats(formats, func(f export.Format) string { return string(f) })})
		}
		return format, nil
	}
	accepted := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(accepted) == "" {
		return formats[0], nil
	}
	var best export.Format
	most := 0.0
	for one := range strings.SplitSeq(accepted, ",") {
		if format, quality := matchRange(one, formats); quality > most {
			best, most = format, quality
		}
	}
	if best == "" {
		return "", &statusError{http.StatusNotAcceptable, core.Invalid(fieldmask.Violation{
			Field: "Accept", Description: "must allow one of " + joinFormats(formats, export.Format.MediaType),
		})}
	}
	return best, nil
}

// matchRange returns the first format that an element of Accept allows, and its quality.
func matchRange(one string, formats []export.Format) (export.Format, float64) {
	media, parameters, err := mime.ParseMediaType(one)
	if err != nil {
		return "", 0
	}
	quality := 1.0
	if q, given := parameters["q"]; given {
		if quality, err = strconv.ParseFloat(q, 64); err != nil {
			return "", 0
		}
	}
	prefix, isWild := strings.CutSuffix(media, "*")
	for _, format := range formats {
		if offered := format.MediaType(); media == offered || isWild && (media == "*/*" || strings.HasPrefix(offered, prefix)) {
			return format, quality
		}
	}
	return "", 0
}

func joinFormats(formats []export.Format, name func(export.Format) string) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = name(f)
	}
	return strings.Join(names, ", ")
}
