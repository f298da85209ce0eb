import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRound } from '../../shared/evals/round-file.ts'
import { atMost } from '../how-much.ts'
import { type Started, sluice, spawnSluice, startSluice } from './run-cli.ts'

const BIN = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))
const ITEMS = atMost(200, 60)
/** Numbers of items: half of them have three digits. */
const NUMBERS = Array.from({ length: ITEMS }, (_, at) => 100 - ITEMS / 2 + at)
const FILE = 'evals/codes.yaml'

const DOCUMENT = `name: codes
inputs: { text: string, shout: { type: boolean, default: false } }
blocks:
  - id: find
    mode: deterministic
    inputs: { text: string, shout: boolean }
    outputs: { code: string }
    deterministic:
      handler: transform
      config: { expression: 'inputs.shout ? $uppercase(inputs.text) : inputs.text' }
    post_gates:
      - { name: is-short, check: { type: max_length, port: code, max: 100 } }
`
const EVALUATION = `data: { file: items.ndjson, id: id }
document: ../dags/codes.yaml
inputs: { text: "{{item.text}}" }
variants:
  - { name: plain }
  - { name: loud, inputs: { shout: true } }
expect:
  - { name: right, block: find, check: { type: equals, port: code, value: "{{item.code}}" } }
concurrency: 8
thresholds:
  - { measure: expect, name: right, variant: plain, min: 1 }
`

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-eval-'))
  for (const name of ['dags', 'evals']) mkdirSync(join(folder, name))
  // The default of 120 starts a minute would make this a matter of minutes.
  write('sluice.yaml', 'safety: { max_requests_per_min: 100000, max_runs: 50 }\n')
  write('dags/codes.yaml', DOCUMENT)
  write(FILE, EVALUATION)
  writeItems('same')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(path: string, text: string): void {
  writeFileSync(join(folder, path), text)
}

/** Every tenth item is in capitals already: both variants are right there. */
function writeItems(last: string): void {
  const items = NUMBERS.map((number) => {
    const text = number % 10 === 0 ? `CODE-${number}` : `code-${number}`
    return { id: `i${number}`, text, code: number === NUMBERS.at(-1) && last === 'other' ? 'something else' : text }
  })
  write('evals/items.ndjson', items.map((item) => JSON.stringify(item)).join('\n'))
}

function roundFiles(): readonly string[] {
  const results = join(folder, 'evals', 'results', 'codes')
  return existsSync(results)
    ? readdirSync(results)
        .sort()
        .map((name) => join(results, name))
    : []
}

function resultsSoFar(): number {
  const [file] = roundFiles()
  return file === undefined ? 0 : (readRound(readFileSync(file, 'utf8'))?.results.length ?? 0)
}

/** Starts a round, and once so many results are kept, kills the command; its place ends with it. */
async function runUntil(results: number): Promise<void> {
  const child = spawn(process.execPath, [BIN, 'eval', 'run', FILE], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, SLUICE_URL: '', SLUICE_TOKEN: '' },
  })
  const said = wordsOf(child)
  const ended = once(child, 'exit').then(() => {
    throw new Error(`it ended by itself: ${said()}`)
  })
  const enough = async () => {
    while (resultsSoFar() < results) await pause(20)
  }
  await Promise.race([enough(), ended])
  ended.catch(() => {})
  child.kill('SIGKILL')
  await once(child, 'close')
}

function wordsOf({ stderr }: ChildProcess): () => string {
  let said = ''
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return () => said
}

async function runAgain(...words: readonly string[]) {
  return await sluice(['eval', 'run', FILE, ...words], { cwd: folder })
}

describe('an evaluation of many items and two variants', { timeout: 300_000 }, () => {
  test('is killed twice in the middle and goes on: every item is run once a variant', async () => {
    await runUntil(0.3 * ITEMS)
    await runUntil(ITEMS)
    const done = await runAgain('--json')
    const [, before = ''] = /Goes on with round \S+: (\d+) of \d+ runs ended before/.exec(done.err) ?? []
    expect(done.err).toContain(`: ${before} of ${2 * ITEMS} runs ended before`)
    expect(Number(before)).toBeGreaterThanOrEqual(ITEMS)
    expect(Number(before)).toBeLessThan(2 * ITEMS)
    expect(done.code).toBe(0)
    expect(roundFiles()).toHaveLength(1)
    const [file = ''] = roundFiles()
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const results = lines.flatMap((line) => (/^\{"type":"result"/.test(line) ? [JSON.parse(line)] : []))
    expect(results).toHaveLength(2 * ITEMS)
    expect(new Set(results.map(({ item, variant }) => `${item} ${variant}`)).size).toBe(2 * ITEMS)
    expect(new Set(results.map(({ run_id }) => run_id)).size).toBe(2 * ITEMS)
    expect(results.filter(({ state }) => state !== 'completed')).toEqual([])
    const place = await startSluice(['start', '--port', '0', '--json'], folder, 'keep')
    expect(await runsOf(place)).toEqual(results.map(({ run_id }) => run_id).toSorted())
    await place.stop('SIGTERM')
  })

  test('tells shares with their intervals, the difference of the variants, and item by item what is worse than the last time', async () => {
    const first = JSON.parse((await runShow('--json')).out)
    const right = (report: typeof first, variant: number) =>
      report.variants[variant].rates.find(({ what }: { what: string }) => what === 'expect right')
    expect([right(first, 0).rate, right(first, 1).rate]).toEqual([1, 0.1])
    const [both] = first.comparisons
    expect(both.rates.find(({ what }: { what: string }) => what === 'expect right')).toMatchObject({
      pairs: ITEMS,
      difference: -0.9,
      better: 0,
      worse: 0.9 * ITEMS,
    })
    expect(first).toMatchObject({ complete: true, ok: true, done: 2 * ITEMS })
    // One item is another one now: nothing is said of it. Another document is worse in a half of them.
    writeItems('other')
    write('dags/codes.yaml', DOCUMENT.replace(": inputs.text'", ": $substring(inputs.text, 0, 7)'"))
    const second = await runAgain('--json', '--junit', 'junit.xml')
    expect([second.code, JSON.parse(second.out).ok]).toEqual([100, false])
    const plain = JSON.parse(second.out).last.variants[0]
    const worse = plain.changes.filter(({ what }: { what: string }) => what === 'expect right')
    // From code-100 on they are cut; the last is another item.
    expect([plain.items, plain.left_out, worse.length]).toEqual([ITEMS - 1, 1, ITEMS / 2 - 1])
    expect(new Set(worse.map(({ change }: { change: string }) => change))).toEqual(new Set(['worse']))
    const shown = await runShow()
    expect(shown.out).toMatch(/worse i101 expect right: .*\(run_\w+ -> run_\w+\)/)
    expect(shown.out).toMatch(/FAILED expect right of plain is 0\.5; at least 1 is wanted/)
    const junit = readFileSync(join(folder, 'junit.xml'), 'utf8')
    expect(junit).toContain(`<testsuite name="plain" tests="${ITEMS}" failures="${ITEMS / 2}">`)
    expect(junit).toMatch(/<testcase classname="thresholds" .*<failure message="expect right of plain/)
  })
})

describe('the shipped evaluation', { timeout: 120_000 }, () => {
  test('runs as it is, in a folder without settings, and its thresholds hold', { tags: ['thorough'] }, async () => {
    const empty = mkdtempSync(join(tmpdir(), 'sluice-eval-shipped-'))
    cpSync(fileURLToPath(new URL('../../evals', import.meta.url)), join(empty, 'evals'), { recursive: true })
    const done = await spawnSluice(['eval', 'run', '--json'], { cwd: empty })
    expect([done.code, JSON.parse(done.out).ok, JSON.parse(done.out).done]).toEqual([0, true, 22])
    rmSync(empty, { recursive: true, force: true })
  })
})

async function runShow(...words: readonly string[]) {
  return await sluice(['eval', 'show', FILE, ...words], { cwd: folder })
}

/** Ids of all runs the place has, children too. */
async function runsOf({ first }: Started): Promise<readonly string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response = await fetch(`${first.url}/api/dag/runs?limit=500${cursor === '' ? '' : `&cursor=${cursor}`}`)
    const page = (await response.json()) as { runs: { run_id: string }[]; next_cursor: string | null }
    ids.push(...page.runs.map(({ run_id }) => run_id))
    cursor = page.next_cursor
  }
  return ids.toSorted()
}
