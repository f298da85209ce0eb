import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandTree } from '../../clients/cli/command-tree.ts'
import { findHelp } from '../../clients/cli/help/command-help.ts'
import { openSession } from '../../clients/cli/terminal/session.ts'
import { readText } from '../unit/docs/markdown.ts'

/** docs/cli.md is made by `npm run docs`: here only that it is about these commands, not what they print today. */
const PAGE = readText('docs/cli.md')
const SECTIONS = new Map(PAGE.split('\n## ').map((text) => [text.slice(0, text.indexOf('\n')), text]))

function leaves(command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] {
  const shown = command.createHelp().visibleCommands(command)
  const below = shown.filter((child) => words.length === 0 || child.name() !== 'help')
  const isOwn = words.length > 0 && (below.length === 0 || command.registeredArguments.length > 0)
  return [
    ...(isOwn ? [[words.join(' '), command] as const] : []),
    ...below.flatMap((child) => leaves(child, [...words, child.name()])),
  ]
}

const COMMANDS = leaves(await commandTree(openSession()))

describe('docs/cli.md', () => {
  test('has a row and a section for every command, and for no other', () => {
    const rows = [...PAGE.matchAll(/^\| \[`([^`]+)`\]\(#[\w-]+\)/gm)].map(([, path]) => path)
    const sections = [...SECTIONS.keys()].filter((name) => !['Commands', 'Exit codes'].includes(name)).slice(1)
    expect(rows).toEqual(COMMANDS.map(([path]) => path))
    expect(sections).toEqual(COMMANDS.map(([path]) => path))
  })

  test('says what every exit code means', () => {
    expect([...(SECTIONS.get('Exit codes') ?? '').matchAll(/^\| (\d+) \|/gm)].map(([, code]) => code)).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
      '100',
    ])
  })

  test.each(COMMANDS)('%s: every option, and real output; a shape where there is --json', (path, command) => {
    const section = SECTIONS.get(path) ?? ''
    const options = command.createHelp().visibleOptions(command)
    expect(options.filter(({ flags, long }) => long !== '--help' && !section.includes(`\`${flags}\``))).toEqual([])
    expect(section).toContain(findHelp(path.split(' '))?.prints)
    // What opens a page or talks a protocol is explained instead.
    if (!section.includes('$ sluice')) expect(section).toMatch(/MCP|\.md(#[\w-]+)?\)/)
    else expect(section).not.toMatch(/\[usage\]|which is a bug/)
  })
})
