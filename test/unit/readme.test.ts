import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandTree } from '../../clients/cli/command-tree.ts'
import { openSession } from '../../clients/cli/session.ts'
import { parseDag } from '../../shared/dag/parse.ts'
import { describeGates } from '../../shared/gates/describe-gates.ts'
import { parseSettings } from '../../shared/parse-settings.ts'
import { ROUTES } from '../../shared/routes.ts'
import { SafetySchema } from '../../shared/settings.ts'
import { codesIn, fencedBlocks, filesBelow, readText, rowsBelow } from './docs/markdown.ts'

const README = readText('README.md')
const DOCUMENTS = ['README.md', ...filesBelow(['docs'], '.md')]

describe('README.md', () => {
  test('has at most 200 lines', () => {
    expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(200)
  })

  test('lists every route of the catalog and no other', () => {
    const listed = rowsBelow(README, 'API').flatMap(([routes = '']) => codesIn(routes).map(wholePath))
    expect(listed.toSorted()).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).sort())
  })

  test('lists every command of the CLI and no other, with options the command has', () => {
    const commands = cliCommands()
    const rows = rowsBelow(README, 'CLI').map(([cell = '', says = '']) => ({ words: codesIn(cell), says }))
    expect(rows.flatMap(({ words }) => words.map(nameOf)).sort()).toEqual([...commands.keys()].sort())
    for (const { words, says } of rows) {
      const named =
        codesIn(says)
          .join(' ')
          .match(/--[a-z][a-z-]*/g) ?? []
      const known = words.flatMap((command) => commands.get(nameOf(command)) ?? [])
      expect(named.filter((option) => !known.includes(option))).toEqual([])
    }
  })

  test('describes the thirteen gate types with exactly their parameters, and names all others', () => {
    const rows = rowsBelow(README, 'Gates')
    const listed = rows.flatMap(([types = '', params = '']) => codesIn(types).map((type) => [type, params] as const))
    const all = describeGates()
    const thirteen = all.filter(({ family }) => family === 'The thirteen')
    expect(new Map(listed)).toEqual(new Map(thirteen.map(({ type, params }) => [type, parametersOf(params)])))
    const section = README.slice(README.indexOf('\n## Gates'), README.indexOf('\n## Approvals'))
    expect(all.map(({ type }) => type).filter((type) => !section.includes(`\`${type}\``))).toEqual([])
  })

  test('states every cap of the safety policy with its default', () => {
    const rows = rowsBelow(README, 'Safety caps').map(([key = '', value = '']) => [codesIn(key)[0], codesIn(value)[0]])
    const defaults = Object.entries(SafetySchema.parse({})).map(([key, value]) => [key, String(value)])
    expect(rows).toEqual(defaults)
  })

  test('lists the npm scripts there are', () => {
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> }
    const listed = rowsBelow(README, 'Commands').flatMap(([cell = '']) =>
      codesIn(cell).map((one) => one.split(' ').at(-1)),
    )
    expect(listed.toSorted()).toEqual(Object.keys(scripts).sort())
  })
})

describe.each(DOCUMENTS)('%s', (path) => {
  const text = readText(path)

  test('has YAML that this version accepts', () => {
    for (const block of fencedBlocks(text, 'yaml')) {
      if (block.startsWith('# sluice.yaml')) expect(() => parseSettings(block, 'sluice.yaml')).not.toThrow()
      else expect(parseDag(block)).toMatchObject({ ok: true })
    }
  })
})

/** Leaves of the command tree, as a person types them, with their long options. */
function cliCommands(): ReadonlyMap<string, readonly string[]> {
  return new Map(leaves(commandTree(openSession()), []))
}

function leaves(command: Command, words: readonly string[]): readonly (readonly [string, readonly string[]])[] {
  // Commands that are there twice are hidden the second time; `help` is everywhere.
  const shown = command.createHelp().visibleCommands(command)
  const below = shown.filter((child) => child.name() !== 'help')
  // `graph FILE` draws a document, and `graph import` is below it.
  const isOwn = below.length === 0 || command.registeredArguments.length > 0
  const own = [words.join(' '), command.options.flatMap(({ long }) => long ?? [])] as const
  return [...(isOwn ? [own] : []), ...below.flatMap((child) => leaves(child, [...words, child.name()]))]
}

/** `GET RUN/graph` -> `GET /api/dag/runs/{run_id}/graph`. */
function wholePath(route: string): string {
  return route.replace(' RUN', ' /api/dag/runs/{run_id}')
}

/** `run start FILE --yes` -> `run start`. */
function nameOf(words: string): string {
  return words.replace(/ (?:--|[A-Z[(]).*$/, '')
}

/** As README writes them: every parameter in code, a question mark where it may be left out. */
function parametersOf({ properties, required }: Readonly<Record<string, unknown>>): string {
  const needed = new Set(required as readonly string[] | undefined)
  const names = Object.keys(properties as object)
  return names.map((name) => `\`${name}${needed.has(name) ? '' : '?'}\``).join(' ')
}
