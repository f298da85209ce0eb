import type { Command } from 'commander'
import type { CommandHelp } from '../terminal/options.ts'
import { wrapText } from '../terminal/text.ts'
import { DOCUMENT_HELP } from './document-and-graph-help.ts'
import { PLACE_HELP } from './place-help.ts'
import { RUN_HELP } from './run-help.ts'

/** By the words of the command: a new command is an entry, and a test demands it. */
export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = { ...PLACE_HELP, ...RUN_HELP, ...DOCUMENT_HELP }

/** Adds to every command what it prints, its exit codes and its examples; a group shows the first of each of three. */
export function addCommandHelp(tree: Command, typed: string, words: readonly string[] = []): void {
  for (const command of tree.commands) {
    describeArguments(command)
    const path = [...words, command.name()]
    const help = findHelp(path, command.commands.length > 0)
    const lines = help === undefined ? examplesBelow(command, path, typed) : helpLines(help, typed)
    if (lines.length > 0) command.addHelpText('after', `\n${lines.join('\n')}`)
    addCommandHelp(command, typed, path)
  }
}

/** Commands of `run` are also there without it; a group of the same name is another thing. */
export function findHelp(path: readonly string[], isGroup = false): CommandHelp | undefined {
  const known = (name: string) => (Object.hasOwn(COMMAND_HELP, name) ? COMMAND_HELP[name] : undefined)
  return known(path.join(' ')) ?? (path.length === 1 && !isGroup ? known(`run ${path[0]}`) : undefined)
}

function helpLines({ prints, json, exits = {}, examples }: CommandHelp, typed: string): readonly string[] {
  return [
    ...labelled('Prints', prints),
    ...(json === undefined ? [] : labelled('--json', json)),
    ...Object.entries(exits).flatMap(([code, words]) => labelled(`Exit ${code}`, words)),
    '',
    ...exampleLines(examples, typed),
  ]
}

function examplesBelow(command: Command, path: readonly string[], typed: string): readonly string[] {
  const first = command.commands.flatMap((one) => findHelp([...path, one.name()])?.examples.slice(0, 1) ?? [])
  return first.length === 0 ? [] : exampleLines(first.slice(0, 3), typed)
}

function exampleLines(examples: readonly string[], typed: string): readonly string[] {
  return [examples.length === 1 ? 'Example:' : 'Examples:', ...examples.map((example) => `  ${typed} ${example}`)]
}

const LABEL = 9
const COLUMNS = 80

function labelled(label: string, text: string): readonly string[] {
  const lines = wrapText(text, COLUMNS, ' '.repeat(LABEL))
  return lines.map((line, i) => (i === 0 ? `${`${label}:`.padEnd(LABEL)}${line.slice(LABEL)}` : line))
}

/** Arguments that are called the same everywhere are explained once; a command that says more keeps its own words. */
function describeArguments(command: Command): void {
  for (const argument of command.registeredArguments) {
    if (argument.description === '') argument.description = SAYS[argument.name()] ?? ''
  }
}

const RUN = 'id of a run, as `run list` shows it'

const SAYS: Readonly<Record<string, string>> = {
  'run-id': RUN,
  'run-a': RUN,
  'run-b': 'the run it is compared with',
  'approval-id': 'id of an approval, as `approvals list` shows it',
  'entity-id': 'id of an entity, as `graph search` shows it',
  'entity-ids': 'ids of entities, as `graph search` shows them',
  file: 'a DAG document, YAML or JSON',
  question: 'in words; quotes are not needed',
}
