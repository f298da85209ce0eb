import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { firstDaily } from '../how-much.ts'
import { noTerminal } from './pseudo-terminal.ts'
import { sluice, startSluice } from './run-cli.ts'
import { CTRL_C, CTRL_D, typeOnTerminal } from './typed-terminal.ts'

/** Runs in the foreground: who watches one is asked what it asks, and may go at any time. */
const NOTE = `
inputs: { text: { type: string, default: First } }
blocks:
  - id: publish
    mode: deterministic
    inputs: { text: { type: string, required: true } }
    outputs: { text: string }
    deterministic: { handler: pass }
    approval: { prompt: "Publish this?", edit: [text] }
`
const TWICE = `
blocks:
  - id: one
    mode: deterministic
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: '"1"' } }
    approval: { prompt: "First?" }
  - id: two
    mode: deterministic
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: '"2"' } }
    approval: { prompt: "Second?" }
`
const BIN = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))
const NO_SERVER = { SLUICE_URL: '', SLUICE_TOKEN: '' }

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-asks-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function project(document: string): string {
  const cwd = mkdtempSync(join(folder, 'p-'))
  mkdirSync(join(cwd, 'dags'))
  // The port of a place that somebody else has open must not be found.
  writeFileSync(join(cwd, 'sluice.yaml'), 'port: 9\n')
  writeFileSync(join(cwd, 'dags/note.yaml'), document)
  return cwd
}

type Typed = readonly (readonly [string, string])[]
const typed = (cwd: string, args: readonly string[], types: Typed, shows = (_shown: string) => {}) =>
  typeOnTerminal([process.execPath, BIN, 'run', 'start', 'dags/note.yaml', ...args], {
    ...{ cwd, env: NO_SERVER, types, shows },
  })

describe.skipIf(noTerminal() !== undefined)('a run in the foreground, on a terminal', () => {
  test('asks here, takes a changed value and a remark, and goes on', async () => {
    const { code, shown } = await typed(
      project(NOTE),
      [],
      [
        ['Approve? [y/n/e/f/l] ', 'maybe\r'],
        ['Approve? [y/n/e/f/l] ', 'e\r'],
        ['text (string; Enter keeps it): ', 'Second\r'],
        ['Approve? [y/n/e/f/l] ', 'f\r'],
        ['Remark: ', 'shorter\r'],
        ['Approve? [y/n/e/f/l] ', 'y\r'],
      ],
    )
    expect(shown).toContain('Publish this?')
    expect(shown).toContain('Type y, n, e, f, l.')
    expect(shown).toContain('Changed: text')
    expect(shown).toMatch(/Approved block publish of run_\w+/)
    expect(shown).toMatch(/--- publish\.text\s+Second/)
    expect(code).toBe(0)
  })

  test('asks one thing after the other, and why where the answer is no', async () => {
    const { code, shown } = await typed(
      project(TWICE),
      [],
      [
        ['Approve? [y/n/f/l] ', 'y\r'],
        ['Approve? [y/n/f/l] ', 'no\r'],
        ['Why not? (Enter: nothing is said) ', 'too early\r'],
      ],
    )
    expect(shown).toMatch(/Approved block (one|two) of/)
    expect(shown).toMatch(/Rejected block (one|two) of/)
    expect([1, 3]).toContain(code)
  })

  test('--quiet says what is asked on stderr', { tags: ['thorough'] }, async () => {
    const cwd = project(NOTE)
    const script = `'${process.execPath}' '${BIN}' run start dags/note.yaml --quiet | cat > out.txt`
    const { shown } = await typeOnTerminal(['sh', '-c', script], {
      cwd,
      env: NO_SERVER,
      types: [['waits for a person', CTRL_C]],
    })
    expect(shown).toContain('waits for a person')
  })

  test('--quiet prints the result alone', async () => {
    const { code, out, err } = await sluice(['run', 'start', 'dags/note.yaml', '--quiet', '--yes'], {
      cwd: project(NOTE),
    })
    expect({ code, out }).toEqual({ code: 0, out: 'First\n' })
    expect(err).toContain('Approved because of --yes')
  })

  for (const { tags, rows } of firstDaily(1, [
    ['while it is asked', 'Approve? [y/n/e/f/l] '],
    ['while it shows what goes on', 'note  '],
  ] as const))
    test.each(rows)('Ctrl-C %s says how to go on, with exit code 130', { tags }, async (_, words) => {
      const cwd = project(NOTE)
      const { code, shown } = await typed(cwd, [], [[words, CTRL_C]])
      expect(shown).toMatch(/Run run_\w+ stands still; what it has done is kept in .*\.sluice/)
      expect(shown).toMatch(/Go on with it: sluice start, then sluice run watch run_\w+\. \[interrupted\]/)
      expect(code).toBe(130)
      expect(existsSync(join(cwd, '.sluice/sluice.db'))).toBe(true)
    })

  test('takes a question back that somebody decides elsewhere', async () => {
    const cwd = project(NOTE)
    const place = await startSluice(['start', '--port', '0', '--json'], cwd)
    const there = ['--url', String(place.first.url)]
    let seen = ''
    const here = typed(cwd, ['--watch', ...there], [], (shown) => {
      seen = shown
    })
    await expect.poll(() => seen).toContain('Approve? [y/n/e/f/l] ')
    const { out } = await sluice(['approvals', 'list', '--json', ...there])
    await sluice(['approvals', 'approve', JSON.parse(out).approvals[0].approval_id, '--yes', ...there])
    const { code, shown } = await here
    expect(shown).toContain('It was decided elsewhere, or its run has ended.')
    expect(shown).toMatch(/Run run_\w+ completed/)
    expect(code).toBe(0)
    expect(await place.stop('SIGINT')).toBe(0)
  })

  test('asks nothing more once its input has ended, and says how to decide', { tags: ['thorough'] }, async () => {
    const { code, shown } = await typed(
      project(NOTE),
      [],
      [
        ['Approve? [y/n/e/f/l] ', CTRL_D],
        ['Decide it later: ', CTRL_C],
      ],
    )
    expect(shown).toMatch(/Decide it later: sluice run approve run_\w+ --approval apr_\w+/)
    expect(code).toBe(130)
  })
})

test('--quiet prints several values as one JSON object, and tells a run that failed on stderr', {
  tags: ['thorough'],
}, async () => {
  const both = await sluice(['run', 'start', 'dags/note.yaml', '--quiet', '--yes'], { cwd: project(TWICE) })
  expect(JSON.parse(both.out)).toEqual({ one: { text: '1' }, two: { text: '2' } })
  const failing = TWICE.replace(`'"1"'`, '\'$error("no")\'')
  const failed = await sluice(['run', 'start', 'dags/note.yaml', '--quiet', '--yes'], { cwd: project(failing) })
  expect(failed.code).not.toBe(0)
  expect(failed.err).toMatch(/Run run_\w+ (failed|partial)/)
})
