package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// Runs programs in Node.js itself: Pulumi's SDK talks to the engine without a host in between, and so has all that the engine can
// do, such as hooks and transforms of the stack. The older host does the rest.
type nodeHost struct {
	releasedHost
}

const runModule = "@pulumi/pulumi/cmd/run"

// The exit code of a program whose error has been shown already.
const shownAlready = 32

func (h *nodeHost) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	folder := req.Info.ProgramDirectory
	find := exec.CommandContext(ctx, "node", "-p", `require.resolve(process.argv[1], { paths: [process.cwd()] })`, runModule)
	find.Dir = folder
	found, err := find.Output()
	if err != nil {
		return &pulumirpc.RunResponse{Error: fmt.Sprintf(
			"%s cannot be found from %s: install the project's packages there (npm install) first.", runModule, folder)}, nil
	}
	env, err := h.environment(req)
	if err != nil {
		return nil, err
	}
	options := req.Info.GetOptions().AsMap()
	given, _ := options["nodeargs"].(string)
	args := append(strings.Fields(given), strings.TrimSpace(string(found)))
	for name, value := range map[string]string{
		"monitor": req.MonitorAddress, "engine": h.engine, "organization": req.Organization, "project": req.Project,
		"stack": req.Stack, "pwd": req.Pwd, "root-directory": req.Info.RootDirectory,
	} {
		if value != "" {
			args = append(args, "--"+name, value)
		}
	}
	if req.DryRun {
		args = append(args, "--dry-run")
	}
	args = append(args, "--parallel", fmt.Sprint(req.Parallel), filepath.Join(folder, req.Info.EntryPoint))
	run := exec.CommandContext(ctx, "node", append(args, req.Args...)...)
	run.Dir = folder
	run.Env = append(os.Environ(), env...)
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	err = run.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return &pulumirpc.RunResponse{}, nil
	case errors.As(err, &exit) && exit.ExitCode() == shownAlready:
		return &pulumirpc.RunResponse{Bail: true}, nil
	default:
		return failed(fmt.Errorf("Program exited with non-zero exit code: %w", err))
	}
}

func (h *nodeHost) environment(req *pulumirpc.RunRequest) ([]string, error) {
	// Without any configuration, {} and [] instead of null.
	config, err := json.Marshal(maps.Collect(maps.All(req.Config)))
	if err != nil {
		return nil, err
	}
	secretKeys, err := json.Marshal(append([]string{}, req.ConfigSecretKeys...))
	if err != nil {
		return nil, err
	}
	options := req.Info.GetOptions().AsMap()
	env := []string{"PULUMI_CONFIG=" + string(config), "PULUMI_CONFIG_SECRET_KEYS=" + string(secretKeys)}
	if typescript, given := options["typescript"].(bool); !given || typescript {
		env = append(env, "PULUMI_NODEJS_TYPESCRIPT=true")
	}
	if file, given := options["tsconfig"].(string); given {
		env = append(env, "PULUMI_NODEJS_TSCONFIG_PATH="+file)
	}
	return env, nil
}
