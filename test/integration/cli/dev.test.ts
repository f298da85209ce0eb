import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { sluice } from '../../e2e/run-cli.ts'

/** A project that is written while its place is open. */
const BIN = join(import.meta.dirname, '../../../clients/cli/sluice.mjs')

let cwd = ''
let child: ChildProcess | undefined
let said = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-dev-'))
  write('sluice.yaml', 'version: 1\n')
})
afterEach(async () => {
  await stop()
  rmSync(cwd, { recursive: true, force: true })
})

function write(name: string, text: string): void {
  mkdirSync(dirname(join(cwd, name)), { recursive: true })
  writeFileSync(join(cwd, name), text)
}

/** Opens it, and answers once the place is there, or once `words` are said. */
async function dev(options: readonly string[] = [], words = /are checked and taken as they are saved/): Promise<void> {
  said = ''
  child = spawn(process.execPath, [BIN, 'dev', '--port', '0', ...options], { cwd, stdio: 'pipe' })
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  await says(words)
}

async function stop(): Promise<number | null> {
  if (child === undefined || child.exitCode !== null) return child?.exitCode ?? null
  child.kill('SIGINT')
  await once(child, 'exit')
  return child.exitCode
}

/** Waits for words after those that were waited for before. */
async function says(words: RegExp): Promise<string> {
  await expect.poll(() => said, { timeout: 60_000 }).toMatch(words)
  const found = words.exec(said)?.[0] ?? ''
  said = said.slice(said.indexOf(found) + found.length)
  return found
}

const run = async (...args: readonly string[]) => (await sluice(args, { cwd })).out
const HealthSchema = z.looseObject({
  project: z.array(z.looseObject({ file: z.string(), line: z.int().optional(), code: z.string() })).optional(),
})
async function shownInConsole() {
  const place = JSON.parse(await run('console', '--json'))
  return HealthSchema.parse(await (await fetch(new URL('/api/health', place.url))).json()).project
}

const STEP = (words: string) => `
import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({
  inputs: z.object({ before: z.string() }),
  outputs: z.object({ text: z.string() }),
  run: () => ({ text: ${JSON.stringify(words)} }),
})
`
const NOTE = `
name: note
blocks:
  - id: first
    mode: deterministic
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: '"kept"' } }
  - id: second
    mode: deterministic
    inputs: { before: { from: first.text } }
    deterministic: { handler: ./steps/write.ts }
`

/** Of no step: nothing of it is built. */
const ASK = `
name: ask
blocks:
  - id: first
    mode: deterministic
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: '"kept"' } }
  - id: second
    mode: deterministic
    approval: { prompt: "Go on?" }
    inputs: { before: { from: first.text } }
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: 'inputs.before' } }
`

test('tells each save at file:line:col, in the terminal and to the console, and the place goes on', async () => {
  write('dags/note.yaml', NOTE)
  write('steps/write.ts', STEP('one'))
  await dev()
  expect(await shownInConsole()).toEqual([])
  write('dags/note.yaml', NOTE.replace('first.text', 'first.txt'))
  await says(/saved dags\/note\.yaml\ndags\/note\.yaml:10:\d+ {2}unknown_output {2}.*"first\.text"/)
  expect(await shownInConsole()).toMatchObject([{ file: 'dags/note.yaml', line: 10, code: 'unknown_output' }])
  write('dags/note.yaml', NOTE)
  await says(/dags\/note\.yaml is valid: first, second/)
  expect(await shownInConsole()).toEqual([])
  expect(await stop()).toBe(0)
})

test('tells what is wrong in a step, runs it once it is right, and takes a new document', {
  tags: ['thorough'],
}, async () => {
  write('dags/note.yaml', NOTE)
  write('steps/write.ts', STEP('one'))
  await dev()
  write('steps/write.ts', `${STEP('one')}\nconst broken = (`)
  await says(/saved steps\/write\.ts\ndags\/note\.yaml:\d+:\d+ {2}\w+ {2}.*steps\/write\.ts/)
  write('steps/write.ts', STEP('two'))
  await says(/is valid/)
  expect(await run('run', 'start', 'dags/note.yaml', '--quiet')).toBe('two\n')
  write('dags/more.yaml', NOTE.replace('name: note', 'name: more'))
  await says(/dags\/more\.yaml is valid/)
})

test('new settings open the place again, and its runs go on', async () => {
  write('dags/ask.yaml', ASK)
  await dev()
  const id = JSON.parse(await run('run', 'start', 'dags/ask.yaml', '--json')).run_id
  await expect.poll(() => run('run', 'status', id), { timeout: 60_000 }).toMatch(/\? second +approval/)
  write('sluice.yaml', 'version: 1\nsafty: {}\n')
  await says(/sluice\.yaml:2:\d+ {2}/)
  expect(await run('run', 'status', id)).toContain('approval')
  write('sluice.yaml', 'version: 1\nsafety: { max_runs: 3 }\n')
  await says(/its runs go on/)
  // At the same address, unless somebody took the port meanwhile that nobody had chosen.
  await expect
    .poll(async () => [said, await run('console', '--json')], { timeout: 60_000 })
    .toMatchObject([expect.any(String), expect.stringMatching(/http:/)])
  await expect.poll(() => run('run', 'approve', id, '--yes'), { timeout: 60_000 }).toContain('Approved')
  await expect.poll(() => run('run', 'status', id), { timeout: 60_000 }).toMatch(/✓ second +completed/)
})

test('--rerun starts the last run again from the first block that changed', { tags: ['thorough'] }, async () => {
  write('dags/note.yaml', NOTE)
  write('steps/write.ts', STEP('one'))
  await dev(['--rerun'])
  expect(await run('run', 'start', 'dags/note.yaml', '--quiet')).toBe('one\n')
  write('README.md', 'nothing of a run')
  await says(/saved README\.md/)
  write('steps/write.ts', STEP('two'))
  await says(/Again, from what changed: run run_\w+ of note/)
  await says(/Taken over where gates still hold: first\n/)
  await says(/--- second\.text\ntwo/)
})

test('--rerun keeps nothing where the first block changed, and stops a run that goes on', {
  tags: ['thorough'],
}, async () => {
  write('dags/note.yaml', NOTE)
  write('steps/write.ts', STEP('two'))
  await dev(['--rerun'])
  expect(await run('run', 'start', 'dags/note.yaml', '--quiet')).toBe('two\n')
  write('dags/note.yaml', NOTE.replace('"kept"', '"changed"'))
  await says(/Taken over where gates still hold: No block/)
  await says(/--- second\.text\ntwo/)
  // A run an hour long is not waited for: it is stopped.
  write('dags/note.yaml', NOTE.replace('id: second', 'id: second\n    approval: { prompt: "Go on?" }'))
  await says(/waits for a person/)
  write('dags/note.yaml', NOTE)
  await says(/has not ended: it is stopped/)
  await says(/--- second\.text\ntwo/)
})

test('settings that are bad at the start open nothing, and the place opens once they are mended', async () => {
  write('sluice.yaml', 'version: 1\nsafty: {}\n')
  await dev([], /sluice\.yaml:2:\d+ .*1 problem\. Nothing runs before they are mended\./s)
  write('sluice.yaml', 'version: 1\n')
  await says(/are checked and taken as they are saved/)
  // A folder that is new, with what stands in it; a log, which may be what is said here, is no save.
  write('said.log', 'a line')
  write('dags/ask.yaml', ASK.replace('first.text', 'first.txt'))
  expect(await says(/saved .*/)).toBe('saved dags/ask.yaml')
  await says(/1 problem\. What is running goes on\./)
  expect(await stop()).toBe(0)
})
