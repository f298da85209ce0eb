import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { sluice } from '../../e2e/run-cli.ts'
import { firstDaily } from '../../how-much.ts'

/** Documents that name steps, read by commands without a server: ports and config come from the project's code. */
const dir = mkdtempSync(join(tmpdir(), 'sluice-steps-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function write(name: string, text: string): void {
  mkdirSync(dirname(join(dir, name)), { recursive: true })
  writeFileSync(join(dir, name), text)
}

const STEP = `
import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({
  inputs: z.object({ text: z.string() }),
  outputs: z.object({ words: z.number() }),
  config: z.strictObject({ at_most: z.number().default(10) }),
  run: ({ inputs }) => ({ words: inputs.text.split(' ').length }),
})
`

const document = (more: string) => `
name: words
inputs: { text: string }
blocks:
  - { id: count, mode: deterministic, inputs: { text: string }, ${more} }
  - id: show
    mode: deterministic
    inputs: { words: { from: count.words } }
    outputs: { words: number }
    deterministic: { handler: pass }
`
const counting = (config = '{}') => document(`deterministic: { handler: ./steps/count.ts, config: ${config} }`)
const scoring = document('outputs: { words: number }, deterministic: { handler: ./steps/score.py }')

beforeEach(() => {
  rmSync(join(dir, 'sluice.yaml'), { force: true })
  write('steps/count.ts', STEP)
  write('dags/words.yaml', counting())
})

async function run(...args: readonly string[]) {
  const { code, out, err } = await sluice(args, { cwd: dir })
  return { status: code, said: out + err }
}

test('a document takes the outputs its step says it has', async () => {
  expect(await run('validate')).toMatchObject({ status: 0, said: expect.stringContaining('count, show') })
})

for (const { tags, rows } of firstDaily(1, [
  ['compile', '"_close_count"'],
  ['plan', 'critical path 2.00 s: count -> show'],
  ['graph', 'count'],
] as const))
  test.each(rows)('%s reads it too', { tags }, async (verb, words) => {
    expect(await run(verb, 'dags/words.yaml')).toMatchObject({ status: 0, said: expect.stringContaining(words) })
  })

test.each([
  [
    'an output its step has not',
    document('outputs: { word: number }, deterministic: { handler: ./steps/count.ts }'),
    /unknown_output .*"word".*Did you mean "words"\?/,
  ],
  ['a config that does not fit', counting('{ at_most: many }'), /config\.at_most.*number/],
  [
    'a file that is not there',
    document('deterministic: { handler: ./steps/coutn.ts }'),
    /unknown_step .*coutn\.ts.*Did you mean "\.\/steps\/count\.ts"\?/,
  ],
  ['a program without a command', scoring, /unknown_step .*score\.py.*Add programs/],
])('%s is told with its place', async (_, text, words) => {
  write('dags/words.yaml', text)
  expect(await run('validate', 'dags/words.yaml')).toMatchObject({ status: 100, said: expect.stringMatching(words) })
})

test('a module that cannot be loaded is told with what it threw', async () => {
  write('steps/count.ts', "throw new Error('no such table')")
  expect(await run('validate')).toMatchObject({ status: 100, said: expect.stringContaining('no such table') })
})

test('a program is known by the settings, and is not judged by settings with errors', async () => {
  write('dags/words.yaml', scoring)
  write('steps/score.py', 'print("{}")')
  write(
    'sluice.yaml',
    'programs: { ./steps/score.py: { exec: [python3, steps/score.py], outputs: { score: number } } }',
  )
  const refused = await run('validate', 'dags/words.yaml')
  expect(refused).toMatchObject({ status: 100, said: expect.stringContaining('it has "score"') })
  write('sluice.yaml', 'programs: { ./steps/score.py: { exec: [python3, steps/score.py] } }')
  expect(await run('validate', 'dags/words.yaml')).toMatchObject({ status: 0 })
  write('sluice.yaml', 'prot: 3')
  expect(await run('validate', 'dags/words.yaml')).toMatchObject({ status: 0 })
})

for (const { tags, rows } of firstDaily(7, [
  ['../steps/count.ts', /unknown_handler/],
  ['./../steps/count.ts', /no path of a step; .* below the folder of sluice\.yaml/],
  ['./steps/../../count.ts', /no path of a step/],
  ['./steps/..ts', /no path of a step/],
  ['/etc/count.ts', /unknown_handler/],
  ['./steps/linked.ts', /leads out of the folder of sluice\.yaml/],
  ['steps/count.ts', /unknown_handler .*Did you mean "\.\/steps\/count\.ts"\?/],
  ['./linked/count.ts', /leads out of the folder of sluice\.yaml/],
  ['./steps', /no program of that name/],
  ['./steps/count', /no program of that name .*Did you mean "\.\/steps\/count\.ts"\?/],
] as const))
  test.each(rows)('a step named %s is told what a step may be named', { tags }, async (name, words) => {
    const outside = mkdtempSync(join(tmpdir(), 'sluice-outside-'))
    writeFileSync(join(outside, 'count.ts'), STEP)
    for (const [from, to] of [
      ['count.ts', 'steps/linked.ts'],
      ['.', 'linked'],
    ] as const) {
      rmSync(join(dir, to), { force: true })
      symlinkSync(join(outside, from), join(dir, to))
    }
    write('dags/words.yaml', document(`outputs: { words: number }, deterministic: { handler: "${name}" }`))
    expect(await run('validate', 'dags/words.yaml')).toMatchObject({ status: 100, said: expect.stringMatching(words) })
    rmSync(outside, { recursive: true, force: true })
  })

test('a module that reads its environment when it is loaded finds there what the settings give it', async () => {
  write('steps/count.ts', `if (process.env.LIMIT !== '7') throw new Error('LIMIT is ' + process.env.LIMIT)\n${STEP}`)
  expect(await run('validate')).toMatchObject({ status: 100, said: expect.stringContaining('LIMIT is undefined') })
  write('sluice.yaml', 'steps: { ./steps/count.ts: { env: { LIMIT: "7" } } }')
  expect(await run('validate')).toMatchObject({ status: 0 })
})

test('a run started without a server gives a module what the settings give it', { tags: ['thorough'] }, async () => {
  write('steps/count.ts', `if (process.env.LIMIT !== '7') throw new Error('LIMIT is ' + process.env.LIMIT)\n${STEP}`)
  write('sluice.yaml', 'steps: { ./steps/count.ts: { env: { LIMIT: "7" } } }')
  expect(await run('run', 'start', 'dags/words.yaml', '--input', 'text=one two')).toMatchObject({ status: 0 })
})

test('a program of which a file is missing is told so, and is not taken for a wrong name', async () => {
  write('dags/words.yaml', scoring)
  write('steps/score.py', 'print("{}")')
  write('sluice.yaml', 'programs: { ./steps/score.py: { exec: [python3, steps/score.py], files: [steps/words.txt] } }')
  const { said } = await run('validate', 'dags/words.yaml')
  expect(said).toMatch(/"steps\/words\.txt" under files is not below .* Name files and folders of the project\.\n/)
  expect(said).not.toContain('Did you mean')
})

test('a line of --ndjson is judged with the code of this folder', async () => {
  const line = `${JSON.stringify({ id: 1, yaml: counting() })}\n`
  const { out } = await sluice(['validate', '--ndjson'], { cwd: dir, stdin: line })
  expect(JSON.parse(out)).toMatchObject({ id: 1, valid: true, order: ['count', 'show'] })
})
