package app

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitboard/internal/config"
)

// commonFlags are those of every command.
func commonFlags(flags *pflag.FlagSet) {
	flags.String("config", "", "read the configuration from `FILE` (env BITBOARD_CONFIG)")
	setting(flags, "redis", "redis", "`URL` of the store: redis://…, rediss://…, unix://PATH, redis+sentinel://…, redis+cluster://…, or embedded")
	setting(flags, "data-dir", "data_dir", "keep the embedded store in the folder `DIR`")
}

// setting adds a flag for a key of the configuration. Its help says by which
// other ways the key can be set.
func setting(flags *pflag.FlagSet, name, path, help string) {
	for _, k := range config.Keys() {
		if k.Path == path {
			flags.String(name, "", fmt.Sprintf("%s (env %s, key %s, default %s)", help, k.Env, k.Path, k.Default))
		}
	}
}

// perRun completes the help of a flag that belongs to one run and no
// configuration, and lets an environment variable give it.
func perRun(flags *pflag.FlagSet, name, env string) {
	f := flags.Lookup(name)
	f.Usage = fmt.Sprintf("%s (env %s)", f.Usage, env)
	f.Annotations = map[string][]string{envOfFlag: {env}}
}

// envOfFlag is the annotation that holds the environment variable of a flag.
const envOfFlag = "env"

// fromEnvironment sets the flags of perRun that were not given.
func fromEnvironment(c *cobra.Command) error {
	var wrong error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		env := f.Annotations[envOfFlag]
		if len(env) == 0 || f.Changed || os.Getenv(env[0]) == "" || wrong != nil {
			return
		}
		if err := c.Flags().Set(f.Name, os.Getenv(env[0])); err != nil {
			wrong = wrongUsage(fmt.Errorf("%s: %w", env[0], err))
		}
	})
	return wrong
}

// configure reads the configuration as the flags, the environment and the file
// give it.
func configure(c *cobra.Command) (config.Config, error) {
	s := config.Sources{File: os.Getenv("BITBOARD_CONFIG"), Env: os.Getenv, Flags: map[string]string{}}
	known := map[string]bool{}
	for _, k := range config.Keys() {
		known[k.Path] = true
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		switch path := strings.ReplaceAll(f.Name, "-", "_"); {
		case f.Name == "config":
			s.File = f.Value.String()
		case known[path]:
			s.Flags[path] = f.Value.String()
		}
	})
	cfg, err := config.Load(s)
	if err != nil {
		return config.Config{}, wrongUsage(err)
	}
	return cfg, nil
}

// describeKeys lists every key of the configuration for a help text.
func describeKeys() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Every key of the configuration, its environment variable and its default:\n\n")
	for _, k := range config.Keys() {
		value := k.Default
		switch {
		case k.Tree:
			value = "(a list, as YAML)"
		case value == "":
			value = "(none)"
		}
		fmt.Fprintf(&b, "  %-24s %-32s %s\n", k.Path, k.Env, value)
	}
	return strings.TrimRight(b.String(), "\n")
}
