import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandTree, treeFor } from '../../../clients/cli/command-tree.ts'
import { COMMAND_HELP, findHelp } from '../../../clients/cli/help/command-help.ts'
import { openSession } from '../../../clients/cli/terminal/session.ts'
import { shellWords } from './shell-words.ts'

const session = { ...openSession(), settings: { color: false, cursor: false, logs: false, command: 'sluice' } }
const tree = await commandTree(session)

/** Every command with its words; hidden ones are others by another name, or for programs. */
function visible(command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] {
  const shown = command.createHelp().visibleCommands(command)
  return shown.flatMap((child) => {
    const path = [...words, child.name()]
    return [[path.join(' '), child] as const, ...visible(child, path)]
  })
}

const COMMANDS = visible(tree).filter(([path]) => !/ help$/.test(path))
/** `graph FILE` draws, and has commands below it. */
const LEAVES = COMMANDS.filter(([, command]) => command.commands.length === 0 || command.registeredArguments.length > 0)

describe.each(COMMANDS)('sluice %s', (path, command) => {
  test('says what it is, and what each argument and option means', () => {
    expect(command.description()).not.toBe('')
    const silent = [
      ...command.registeredArguments.filter(({ description }) => description === '').map((one) => one.name()),
      ...command.options.filter(({ description }) => description === '').map(({ flags }) => flags),
    ]
    expect(silent).toEqual([])
  })

  test('has a help of at most 80 columns with an example', () => {
    const help = helpText(command)
    expect(help.split('\n').filter((line) => [...line].length > 80)).toEqual([])
    expect(help).toMatch(/^Examples?:\n {2}sluice /m)
    expect(path).not.toBe('')
  })
})

describe.each(LEAVES)('sluice %s', (path, command) => {
  const help = findHelp(path.split(' '))

  test('says what it prints, and what --json prints exactly where there is one', () => {
    expect(help?.prints).toBeTruthy()
    const hasJson = command.options.some(({ long }) => long === '--json')
    expect([hasJson, help?.json !== undefined]).toEqual([hasJson, hasJson])
  })

  test.each(help?.examples ?? [])('takes its own example: %s', async (example) => {
    const parsed = await parsedBy(example)
    expect(parsed).toBe(path)
  })
})

test('no help is about a command there is not', () => {
  expect(Object.keys(COMMAND_HELP).sort()).toEqual(LEAVES.map(([path]) => path).sort())
})

test('a wrong command is answered with the one that was meant', async () => {
  await expect(parsedBy('run stat')).rejects.toThrow(/Did you mean start\?|Did you mean one of/)
  await expect(parsedBy('validat')).rejects.toThrow('Did you mean validate?')
  await expect(parsedBy('run list --statu failed')).rejects.toThrow('Did you mean --status?')
})

describe('treeFor()', () => {
  test.each(['', 'help', '--help', '-h'])(
    'lists for "%s" what every command says of itself, and loads none',
    async (line) => {
      const list = await treeFor(session, line.split(' ').filter(Boolean))
      expect(helpText(list)).toBe(helpText(tree))
      expect(list.commands.flatMap(({ options }) => options)).toEqual([])
    },
  )

  const shown = tree.createHelp().visibleCommands(tree)
  test.each(shown.map((one) => [one.name()] as const))('has of `sluice %s` the whole command', async (name) => {
    const lean = await treeFor(session, [name, '--anything'])
    const [whole, alone] = [tree, lean].map((one) => one.commands.find((command) => command.name() === name))
    if (whole === undefined || alone === undefined) throw new Error(`no command ${name}`)
    const below = (command: Command) => [helpText(command), ...visible(command).map(([, one]) => helpText(one))]
    expect(below(alone)).toEqual(below(whole))
  })

  test.each([['validat'], ['list'], ['complete', 'bash'], ['help', 'run', 'start'], ['--versoin']])(
    'has every command for a line that begins with %s',
    async (...line) => {
      const { commands } = await treeFor(session, line)
      expect(commands.map((one) => one.name())).toEqual(tree.commands.map((one) => one.name()))
    },
  )
})

/** What `--help` prints, with the parts that are added after it. */
function helpText(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (more) => (text += more), getOutHelpWidth: () => 80 }).outputHelp()
  return text
}

/** The words of the command a line is for; throws what commander says of a line it does not take. */
async function parsedBy(line: string): Promise<string> {
  let found = ''
  const fresh = await commandTree(session, (_, command) => {
    const words: string[] = []
    for (let at: Command | null = command; at !== null && at.parent !== null; at = at.parent) words.unshift(at.name())
    found = words.join(' ')
    throw new Error('parsed')
  })
  quiet(fresh)
  await fresh.parseAsync(shellWords(line), { from: 'user' }).catch((error: unknown) => {
    if (!(error instanceof Error) || error.message !== 'parsed') throw error
  })
  return found
}

function quiet(command: Command): void {
  command.configureOutput({ writeErr() {}, writeOut() {} })
  for (const child of command.commands) quiet(child)
}
