/* The subcommands of mona. Each gets argv[0] = its own name and returns the exit status: 0 everything
 * asked for was done, 1 it was not (one line on stderr says why), 2 the command line makes no sense. */
#ifndef MONA_COMMANDS_H
#define MONA_COMMANDS_H

int cmd_enhance(int argc, char **argv);
int cmd_compile(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_devices(int argc, char **argv);

#endif
