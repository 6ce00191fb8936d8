package rpc

import (
	"context"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"

	sourcesv2 "atrium/gen/platform/sources/v2"
	"atrium/gen/platform/sources/v2/sourcesv2connect"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/intake"
)

func sourcesServices(p *platform.Platform, o connect.HandlerOption) []service {
	return []service{
		newService(sourcesv2connect.NewSourcesServiceHandler(sourceService{p.Sources}, o)),
	}
}

type sourceService struct{ operations intake.Sources }

func (s sourceService) ListSources(ctx context.Context, r *sourcesv2.ListSourcesRequest) (*sourcesv2.ListSourcesResponse, error) {
	page, err := s.operations.List(ctx, list(r, &intake.SourceFilter{
		Name: r.GetName(), Type: name[intake.SourceType](r.GetType()), State: name[intake.SourceState](r.GetState()),
	}, checkNotEmpty("name", r.Name)))
	return &sourcesv2.ListSourcesResponse{
		Sources:       convertEach(page.Items, source),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s sourceService) GetSource(ctx context.Context, r *sourcesv2.GetSourceRequest) (*sourcesv2.Source, error) {
	return convert(source)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s sourceService) CreateSource(ctx context.Context, r *sourcesv2.CreateSourceRequest) (*sourcesv2.Source, error) {
	return convert(source)(s.operations.Create(ctx, core.UID(r.GetParent()), input[*intake.Source](r.GetSource(), nil)))
}

func (s sourceService) UpdateSource(ctx context.Context, r *sourcesv2.UpdateSourceRequest) (*sourcesv2.Source, error) {
	changed := r.GetSource()
	return convert(source)(s.operations.Update(ctx, core.UID(changed.GetUid()), input[*intake.Source](changed, r.GetUpdateMask())))
}

func (s sourceService) RunSource(ctx context.Context, r *sourcesv2.RunSourceRequest) (*sourcesv2.Source, error) {
	return convert(source)(s.operations.Run(ctx, core.UID(r.GetUid())))
}

func (s sourceService) CancelSource(ctx context.Context, r *sourcesv2.CancelSourceRequest) (*sourcesv2.Source, error) {
	return convert(source)(s.operations.Cancel(ctx, core.UID(r.GetUid())))
}

func (s sourceService) GetSourceRuns(ctx context.Context, r *sourcesv2.GetSourceRunsRequest) (*sourcesv2.GetSourceRunsResponse, error) {
	runs, err := s.operations.RunsOf(ctx, core.UID(r.GetUid()))
	return &sourcesv2.GetSourceRunsResponse{Runs: convertEach(runs, sourceRun)}, err
}

func (s sourceService) DeleteSource(ctx context.Context, r *sourcesv2.DeleteSourceRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

func source(s *intake.Source) *sourcesv2.Source {
	return &sourcesv2.Source{
		Uid: string(s.UID), Name: s.Name, Type: enumValue[sourcesv2.SourceType](sourcesv2.SourceType_value, s.Type), Url: s.URL, Ecosystems: s.Ecosystems,
		Patterns: s.Patterns, Prune: s.Prune, Interval: durationpb.New(time.Duration(s.Interval)), Credentials: sourceCredentials(s.Credentials), Paused: s.Paused,
		CreateTime: timestamp(s.CreateTime), UpdateTime: timestamp(s.UpdateTime), State: enumValue[sourcesv2.SourceState](sourcesv2.SourceState_value, s.State),
		NextRunTime: timestamp(s.NextRunTime), LastRunTime: timestamp(s.LastRunTime), LastSuccessTime: timestamp(s.LastSuccessTime),
		FailingSince: timestamp(s.FailingSince), Failures: s.Failures, LastRun: sourceRun(s.LastRun),
	}
}

// sourceCredentials leaves out the password, which no response contains.
func sourceCredentials(c *intake.SourceCredentials) *sourcesv2.SourceCredentials {
	if c == nil {
		return nil
	}
	return &sourcesv2.SourceCredentials{Username: c.Username, HasPassword: c.HasPassword}
}

func sourceRun(r *intake.SourceRun) *sourcesv2.SourceRun {
	if r == nil {
		return nil
	}
	return &sourcesv2.SourceRun{
		Number: r.Number, State: enumValue[sourcesv2.SourceState](sourcesv2.SourceState_value, r.State), StartTime: timestamp(r.StartTime), EndTime: timestamp(r.EndTime),
		Error: r.Error, IsUnchanged: r.IsUnchanged, Bytes: int64(r.Bytes), Unreadable: r.Unreadable, Problems: r.Problems, ProblemCount: r.ProblemCount,
		Records: convertValues(r.Records, func(k *intake.SourceRunRecords) *sourcesv2.SourceRunRecords {
			return &sourcesv2.SourceRunRecords{Kind: k.Kind, Added: k.Added, Updated: k.Updated, Unchanged: k.Unchanged, Failed: k.Failed, Removed: k.Removed}
		}),
	}
}
