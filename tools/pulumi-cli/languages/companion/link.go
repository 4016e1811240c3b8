package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// Adds SDKs that were generated into a folder to the dependencies of a project.
func (c *companion) Link(_ context.Context, req *pulumirpc.LinkRequest) (*pulumirpc.LinkResponse, error) {
	project := req.Info.GetProgramDirectory()
	for _, dependency := range req.Packages {
		sdk, err := filepath.Abs(dependency.Path)
		if err != nil {
			return nil, err
		}
		if err := linkers[c.language](project, sdk); err != nil {
			return nil, fmt.Errorf("cannot add %s to the dependencies in %s: %w", sdk, project, err)
		}
	}
	return &pulumirpc.LinkResponse{}, nil
}

var linkers = map[string]func(project, sdk string) error{
	"nodejs": func(project, sdk string) error {
		text, err := os.ReadFile(filepath.Join(sdk, "package.json"))
		if err != nil {
			return err
		}
		var manifest struct{ Name string }
		if err := json.Unmarshal(text, &manifest); err != nil {
			return err
		}
		return command(project, "npm", "pkg", "set", fmt.Sprintf("dependencies[%s]=file:%s", manifest.Name, sdk))
	},
	"python": func(project, sdk string) error {
		file := filepath.Join(project, "requirements.txt")
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		return os.WriteFile(file, []byte(strings.TrimSpace(strings.Join(append(lines, sdk), "\n"))+"\n"), 0o644)
	},
	"go": func(project, sdk string) error {
		module, err := exec.Command("go", "-C", sdk, "list", "-m").Output()
		if err != nil {
			return err
		}
		name := strings.TrimSpace(string(module))
		return command(project, "go", "mod", "edit", "-require", name+"@v0.0.0", "-replace", name+"="+sdk)
	},
}

func command(folder, name string, args ...string) error {
	run := exec.Command(name, args...)
	run.Dir = folder
	if output, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}
