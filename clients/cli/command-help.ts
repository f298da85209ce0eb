import type { Command } from 'commander'
import { describeArguments } from './describe-arguments.ts'
import { DOCUMENT_HELP } from './help-of-documents.ts'
import { PLACE_HELP } from './help-of-places.ts'
import { RUN_HELP } from './help-of-runs.ts'
import type { CommandHelp } from './help-text.ts'
import { wrapText } from './wrap-text.ts'

/** By the words of the command: a new command is an entry, and a test demands it. */
export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = { ...PLACE_HELP, ...RUN_HELP, ...DOCUMENT_HELP }

/** Adds to every command what it prints, its exit codes and its examples; a group shows the first of each of three. */
export function addCommandHelp(tree: Command, typed: string, words: readonly string[] = []): void {
  for (const command of tree.commands) {
    describeArguments(command)
    const path = [...words, command.name()]
    const help = helpOf(path, command.commands.length > 0)
    const lines = help === undefined ? examplesBelow(command, path, typed) : helpLines(help, typed)
    if (lines.length > 0) command.addHelpText('after', `\n${lines.join('\n')}`)
    addCommandHelp(command, typed, path)
  }
}

/** Commands of `run` are also there without it; a group of the same name is another thing. */
export function helpOf(path: readonly string[], isGroup = false): CommandHelp | undefined {
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
  const first = command.commands.flatMap((one) => helpOf([...path, one.name()])?.examples.slice(0, 1) ?? [])
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
