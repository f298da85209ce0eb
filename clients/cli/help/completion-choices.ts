import type { Command, Option } from 'commander'
import { describeGates } from '../../../shared/gates/explain.ts'
import { exampleNames } from '../documents/examples.ts'

export interface Choice {
  readonly value: string
  /** What it is, where the shell can show that. */
  readonly says?: string
}

/** What may stand where the cursor is. */
interface Completions {
  readonly choices: readonly Choice[]
  /** What the command tree does not know itself. */
  readonly wants?: Wants
  /** The beginning that is typed already. */
  readonly partial: string
  /** Of the same word, but not part of the choice: `--status=`. */
  readonly prefix: string
}

export interface Wants {
  readonly files?: 'documents' | 'any' | 'folders'
  readonly runs?: true
}

/** Reads the words before the last as the command line they are, and answers what the last may become. */
export function completionsOf(root: Command, words: readonly string[]): Completions {
  const partial = words.at(-1) ?? ''
  const { command, position, open, literal } = findPosition(root, words.slice(0, -1))
  if (open !== undefined) return { ...valueChoices(open), partial, prefix: '' }
  const [, flag, value] = /^(--[a-z-]+)=(.*)$/s.exec(partial) ?? []
  const given = flag === undefined ? undefined : optionOf(command, flag)
  if (given !== undefined) return { ...valueChoices(given), partial: value ?? '', prefix: `${flag}=` }
  if (partial.startsWith('-') && !literal) return { choices: optionChoices(command, words), partial, prefix: '' }
  const subcommands = position > 0 ? [] : command.commands.filter((one) => !isHidden(one))
  const choices = subcommands.map((one): Choice => ({ value: one.name(), says: one.description() }))
  const own = argumentChoices(command, position)
  return { ...own, choices: [...choices, ...own.choices], partial, prefix: '' }
}

interface Position {
  readonly command: Command
  /** How many arguments of the command stand before the cursor. */
  readonly position: number
  /** The option whose value is being typed. */
  readonly open?: Option
  /** After `--` nothing is an option. */
  readonly literal: boolean
}

function findPosition(root: Command, before: readonly string[]): Position {
  let place: Position = { command: root, position: 0, literal: false }
  for (const word of before) place = next(place, word)
  return place
}

function next({ command, position, open, literal }: Position, word: string): Position {
  if (open !== undefined) return { command, position, literal }
  if (word === '--') return { command, position, literal: true }
  if (word.startsWith('-') && word !== '-' && !literal) {
    const option = word.includes('=') ? undefined : optionOf(command, word)
    return { command, position, literal, ...(option?.required === true && { open: option }) }
  }
  const child = position > 0 ? undefined : command.commands.find((one) => one.name() === word)
  return child === undefined ? { command, position: position + 1, literal } : { command: child, position: 0, literal }
}

function optionOf(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => long === flag || short === flag)
}

/** Hidden commands are in no list of names but work all the same. */
function isHidden(command: Command): boolean {
  return !(command.parent?.createHelp().visibleCommands(command.parent).includes(command) ?? true)
}

/** Those that are on the line already only where they may be repeated. */
function optionChoices(command: Command, words: readonly string[]): readonly Choice[] {
  const given = new Set(words.slice(0, -1))
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long, description }) => long !== undefined && (!given.has(long) || /repeat it/.test(description)))
    .map(({ long = '', description }) => ({ value: long, says: description }))
}

type Told = Pick<Completions, 'choices' | 'wants'>

function valueChoices({ argChoices, flags, long }: Option): Told {
  if (argChoices !== undefined) return { choices: argChoices.map((value) => ({ value })) }
  if (long === '--example' || long === '--from') return { choices: exampleNames().map((value) => ({ value })) }
  if (long === '--type' && flags.includes('<type>')) return { choices: gateTypes() }
  return { choices: [], ...wantsOf(/<([^>]+)>/.exec(flags)?.[1] ?? '') }
}

function argumentChoices(command: Command, position: number): Told {
  const known = command.registeredArguments
  const last = known.at(-1)
  const argument = known[position] ?? (last?.variadic === true ? last : undefined)
  if (argument === undefined) return { choices: [] }
  if (argument.argChoices !== undefined) return { choices: argument.argChoices.map((value) => ({ value })) }
  if (argument.name() === 'type') return { choices: gateTypes() }
  return { choices: [], ...wantsOf(argument.name()) }
}

function gateTypes(): readonly Choice[] {
  return describeGates().map(({ type, summary }) => ({ value: type, says: summary }))
}

/** By the name of a value: every command calls them the same. */
function wantsOf(name: string): { readonly wants?: Wants } {
  if (/^run(-id|-a|-b)?$/.test(name)) return { wants: { runs: true } }
  if (/^(file|files|file-or-name)(\.\.\.)?$/.test(name)) return { wants: { files: 'documents' } }
  if (/^(folder|dir)$/.test(name)) return { wants: { files: 'folders' } }
  return {}
}
