import { homedir, userInfo } from 'node:os'
import type { Argument, Command, Option } from 'commander'
import { findHelp } from '../../clients/cli/help/command-help.ts'
import { NOT_SHOWN, type Printed } from './cli-steps.ts'

/** docs/cli.md: the commands of the tree in its order, each with what it printed in a real project. */
export function renderCliPage(tree: Command, printed: readonly Printed[], clean: (text: string) => string): string {
  const commands = leavesOf(tree, [])
  return [
    HEAD,
    '## Commands\n',
    '| command | does |\n| --- | --- |',
    ...commands.map(
      ([path, command]) => `| [\`${path}\`](#${path.replaceAll(' ', '-')}) | ${cell(command.description())} |`,
    ),
    '',
    EXIT_CODES,
    ...commands.map(([path, command]) => section(path, command, printed, clean)),
  ]
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
}

const HEAD = `# The command line

Made by \`npm run docs\` out of the commands themselves: each was run in a new project against a local server, in the order of a fixed script. Ids, times, durations and names of the machine are replaced; long outputs are cut, which a line of dots says.

\`sluice COMMAND --help\` prints the same words. \`sluice completion bash\` lets Tab complete commands, options, files and run ids. \`NO_COLOR\` and \`FORCE_COLOR\` are honoured; with \`CI\` set a watched run is a line an event. Every JSON shape may get further members.

A command talks to \`--url\`, else \`--stack\`, else \`SLUICE_URL\`, else http://127.0.0.1:4040, with \`SLUICE_TOKEN\` as bearer token. Commands of \`run\` are there without \`run\`, too: \`sluice list\`, \`sluice status RUN\`. Every command takes \`--json\` but \`completion\`, \`deploy\`, \`destroy\`, \`gates check\`, \`gates explain\`, \`goal decide\`, \`goal init\`, \`mcp\`, \`research validate\` and \`slack manifest\`.
`

const EXIT_CODES = `## Exit codes

| code | means |
| --- | --- |
| 0 | it worked; of a run that was followed: it completed |
| 1 | the run failed or was cancelled, or something was refused |
| 2 | the command line is wrong, or a file it names cannot be used; nothing was done |
| 3 | the run, or the goal, ended partial or blocked |
| 4 | the answer is there, and a sentence of it is unsupported |
| 100 | a check failed: \`validate\`, \`goal validate\`, \`doctor\`, \`run verify\` |

Where a code says more, the command has it. What was refused stands on stderr: \`error: words [code]\`, the codes in [errors.md](errors.md).
`

type Leaf = readonly [path: string, command: Command]

function leavesOf(command: Command, words: readonly string[]): readonly Leaf[] {
  const shown = command.createHelp().visibleCommands(command)
  const below = shown.filter((child) => words.length === 0 || child.name() !== 'help')
  const own: readonly Leaf[] = [[words.join(' '), command]]
  const isOwn = words.length > 0 && (below.length === 0 || command.registeredArguments.length > 0)
  return [...(isOwn ? own : []), ...below.flatMap((child) => leavesOf(child, [...words, child.name()]))]
}

function section(path: string, command: Command, printed: readonly Printed[], clean: (text: string) => string): string {
  const help = findHelp(path.split(' '))
  const own = printed.filter(({ step }) => step.of === path)
  const exits = Object.entries(help?.exits ?? {}).map(([code, words]) => `Exit code ${code}: ${words}`)
  const shown = NOT_SHOWN[path]
  return [
    `\n## ${path}\n`,
    `${upper(command.description())}.\n`,
    fence([`sluice ${path} ${command.usage()}`.replace(' [options] [command]', '')]),
    table(command),
    `Prints ${help?.prints ?? ''}\n`,
    ...(help?.json === undefined ? [] : [`\`--json\`: ${help.json}\n`]),
    ...exits.map((line) => `${line}\n`),
    ...own.map((one) => output(one, clean)),
    ...(shown === undefined ? [] : [`${shown}\n`]),
  ].join('\n')
}

function table(command: Command): string {
  const help = command.createHelp()
  const rows = [
    ...help.visibleArguments(command).map(argumentRow),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map(optionRow),
  ]
  return rows.length === 0 ? '' : `| argument, option | means |\n| --- | --- |\n${rows.join('\n')}\n`
}

function argumentRow(argument: Argument): string {
  return `| \`${argument.name()}\`${argument.required ? '' : ', may be left out'} | ${cell(argument.description)}${choices(argument.argChoices)} |`
}

function optionRow({ flags, description, argChoices }: Option): string {
  return `| \`${flags}\` | ${cell(description)}${choices(argChoices)} |`
}

function choices(words: readonly string[] | undefined): string {
  return words === undefined ? '' : `: ${words.map((word) => `\`${word}\``).join(', ')}`
}

function output({ step, line, out, code }: Printed, clean: (text: string) => string): string {
  const parsed = / --json$/.test(step.line) ? readJson(out) : undefined
  const lines = clean(out).trimEnd().split('\n')
  const shape = parsed === undefined ? '' : `Its shape:\n\n${fence(cutLines(jsonShape(parsed).split('\n'), 40))}\n`
  const ended = code === 0 ? [] : [`exit code ${code}`]
  return `${fence([`$ sluice ${clean(line)}`, ...cutLines(lines, parsed === undefined ? 28 : 24), ...ended])}\n${shape}`
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const WIDEST = 160

/** The words that one line is left out would take the place of that line. */
function cutLines(lines: readonly string[], most: number): readonly string[] {
  const narrow = lines.map((line) => (line.length > WIDEST ? `${line.slice(0, WIDEST)} ..` : line))
  return narrow.length <= most + 1 ? narrow : [...narrow.slice(0, most), `.. ${narrow.length - most} more lines`]
}

function fence(lines: readonly string[]): string {
  return `\`\`\`text\n${lines.join('\n').replaceAll('```', "'''")}\n\`\`\`\n`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}

function upper(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

/** The shape of a JSON value in words a person reads: `{run: {run_id: text, tokens: number}, steps: [{..}]}`. */
function jsonShape(value: unknown, depth = 0): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${jsonShape(merged(value), depth)}]`
  if (typeof value !== 'object' || value === null)
    return value === null ? 'null' : (WORDS[typeof value] ?? typeof value)
  const members = Object.entries(value)
  if (members.length === 0) return '{}'
  if (depth >= DEEPEST) return '{..}'
  const indent = '  '.repeat(depth + 1)
  const lines = members.map(([name, member]) => `${indent}${name}: ${jsonShape(member, depth + 1)}`)
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`
}

const DEEPEST = 3
const WORDS: Readonly<Record<string, string>> = { string: 'text', number: 'number', boolean: 'true or false' }

/** Of several objects one that has every member any of them has. */
function merged(values: readonly unknown[]): unknown {
  const objects = values.filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
  return objects.length === values.length ? Object.assign({}, ...objects.toReversed()) : values[0]
}

/** Makes two runs of the same commands print the same: names, ids, times, sizes of this machine are replaced. */
export function normaliser(folder: string, port: string): (text: string) => string {
  const numbered = new Map<string, string>()
  const runName = (id: string) => {
    const name = numbered.get(id) ?? `run_${String(numbered.size + 1).padStart(26, '0')}`
    numbered.set(id, name)
    return name
  }
  return (text) =>
    text
      .replaceAll(folder, '/home/ana')
      .replaceAll(homedir(), '/home/ana')
      .replace(/(?<=127\.0\.0\.1:)\d+/g, (seen) => (seen === port ? '4040' : '4041'))
      .replace(new RegExp(`\\buser:${userInfo().username}\\b`, 'g'), 'user:ana')
      .replace(/\brun_([0-9a-z]{26})\b/g, (id) => runName(id))
      .replace(/\bapr_([0-9a-z]{26})/g, (_, id: string) => `apr_${runName(`run_${id}`).slice('run_'.length)}`)
      .replace(/\b[0-9a-f]{64}\b/g, '0'.repeat(64))
      .replace(/\b20\d\d-\d\d-\d\dT[\d:]+(\.\d+)?Z/g, '2026-01-31T12:00:00.000Z')
      .replace(/\b\d+(\.\d+)? s\b/g, '0.10 s')
      .replace(/("\w*_ms": )\d+(\.\d+)?/g, '$110')
      .replace(/("(?:pid|latency|duration)": ?)\d+/g, '$14711')
      .replace(/\bprocess \d+/g, 'process 4711')
      .replace(/\bpid \d+/g, 'pid 4711')
      .replace(/[\d.]+ (MiB|GiB) free/g, '61.2 GiB free')
      .replace(/\bv24\.\d+\.\d+/g, 'v24.0.0')
}
