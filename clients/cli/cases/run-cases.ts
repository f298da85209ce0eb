import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseCases, type TestCase } from '../../../shared/cases/case-file.ts'
import { type Coverage, coverage, coverageLines, coveredShare } from '../../../shared/cases/coverage.ts'
import type { CaseResult, Miss } from '../../../shared/cases/judge-case.ts'
import { missLines } from '../../../shared/cases/miss-lines.ts'
import type { PlayedRun } from '../../../shared/cases/played-case.ts'
import { Fault } from '../../../shared/errors.ts'
import { playDocument } from '../../sdk/testing.ts'
import { readFile } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'
import { junitOf } from './junit.ts'

export interface RunCasesOptions {
  readonly only?: string
  readonly parallel?: number
  readonly minCoverage?: number
  readonly coverage: boolean
  readonly junit?: string
  readonly json?: true
}

const AT_ONCE = 4

/** `sluice test`: exit code 100 when a case fails, or too little is reached. */
export async function runCases(session: Session, files: readonly string[], options: RunCasesOptions): Promise<void> {
  const chosen = readCases(files.length > 0 ? files : filesHere(), options.only)
  const began = performance.now()
  const runs: PlayedRun[] = []
  const results = await atOnce(options.parallel ?? AT_ONCE, chosen, (one) => playOne(one, runs))
  const reached = coverage(runs)
  const failed = results.filter(({ verdict }) => verdict === 'failed')
  const share = Math.floor(coveredShare(reached) * 100)
  const isTooLittle = options.minCoverage !== undefined && share < options.minCoverage
  if (options.junit !== undefined) writeText(options.junit, junitOf(results))
  const told = { took_ms: Math.round(performance.now() - began), share, reached }
  if (options.json === true) session.say(jsonText({ ...summaryOf(results, told) }, 2))
  else for (const line of reportLines(results, told, options)) session.say(plainText(line))
  if (isTooLittle)
    session.warn(`Reached are ${share} % of the documents; --min-coverage wants ${options.minCoverage} %.`)
  process.exitCode = failed.length > 0 || isTooLittle ? 100 : 0
}

interface Chosen {
  readonly file: string
  readonly dag: string
  readonly test: TestCase
}

function filesHere(): readonly string[] {
  const found = namesIn('tests').filter((name) => /\.ya?ml$/.test(name))
  if (found.length === 0) throw usageError('Nothing to test: there is no tests/*.yaml here. Name a file.')
  return found.sort().map((name) => join('tests', name))
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Every file is read before anything is played: one with errors hides no other. */
function readCases(files: readonly string[], only = ''): readonly Chosen[] {
  const faults: Fault[] = []
  const chosen = files.flatMap((file) => {
    try {
      const { dag, cases } = parseCases(readFile(file, 'cases'), file)
      return cases.map((test): Chosen => ({ file, dag, test }))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      faults.push(error)
      return []
    }
  })
  if (faults.length > 0) throw unusable(faults)
  const fitting = chosen.filter(({ file, test }) => `${file} ${test.name}`.includes(only))
  if (fitting.length === 0) throw usageError(`No case has "${only}" in its name or file. There are ${chosen.length}.`)
  return fitting
}

function unusable(faults: readonly Fault[]): Refused {
  const [head = '', ...lines] = faults.flatMap(({ message }, at) => message.split('\n').slice(at === 0 ? 0 : 1))
  return new Refused({ code: 'bad_cases', detail: [head, ...lines].join('\n') }, { exitCode: 2 })
}

/** In order of the cases, so many under way at once. */
async function atOnce<Given, Made>(
  most: number,
  all: readonly Given[],
  make: (one: Given) => Promise<Made>,
): Promise<readonly Made[]> {
  const made = new Map<number, Made>()
  let next = 0
  const work = async () => {
    for (let at = next++; at < all.length; at = next++) {
      const one = all[at]
      if (one !== undefined) made.set(at, await make(one))
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, all.length) }, work))
  return all.flatMap((_, at) => made.get(at) ?? [])
}

async function playOne({ file, dag, test }: Chosen, runs: PlayedRun[]): Promise<CaseResult> {
  const of = { file, name: test.name, misses: [] }
  if (test.skip !== undefined) return { ...of, verdict: 'skipped', took_ms: 0, why: test.skip }
  const began = performance.now()
  const misses = await missesOf({ file, dag, test }, runs)
  const verdict = misses.length === 0 ? 'passed' : 'failed'
  return { ...of, misses, verdict, took_ms: Math.round(performance.now() - began) }
}

async function missesOf({ file, dag, test }: Chosen, runs: PlayedRun[]): Promise<readonly Miss[]> {
  const { expect = {}, must_not, name: _, skip: _skip, ...given } = test
  const { refused } = expect
  try {
    const run = await playDocument(dag, { ...given, project: '.', folder: resolve(dirname(file)) })
    runs.push(...run.runs)
    const started = refused === undefined ? [] : [startedAnyway(refused, run.status)]
    return [...started, ...(await run.misses(expect, must_not))]
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.code === refused) return []
    const [first = '', ...more] = error.message.split('\n')
    const expected = refused === undefined ? 'a run that begins' : `the start to be refused with ${refused}`
    const seen = `${first} [${error.code}]`
    return [{ what: 'the start', expected, seen, ...(more.length === 0 ? {} : { diff: [`+ ${seen}`, ...more] }) }]
  }
}

function startedAnyway(refused: string, status: string): Miss {
  return { what: 'expect.refused', expected: refused, seen: `it began, and is ${status}` }
}

interface Told {
  readonly took_ms: number
  readonly share: number
  readonly reached: readonly Coverage[]
}

function countsOf(results: readonly CaseResult[]) {
  const of = (verdict: CaseResult['verdict']) => results.filter((result) => result.verdict === verdict).length
  return { passed: of('passed'), failed: of('failed'), skipped: of('skipped') }
}

function summaryOf(results: readonly CaseResult[], { took_ms, share, reached }: Told) {
  const documents = reached.map(({ dag, all }) => ({
    dag,
    of: all.length,
    reached: all.filter((one) => one.reached).length,
    not_reached: all.filter((one) => !one.reached).map(({ kind, what }) => ({ kind, what })),
  }))
  return { ...countsOf(results), took_ms, cases: results, coverage: { percent: share, documents } }
}

const SIGNS = { passed: '✓', failed: '✗', skipped: '-' } as const

function reportLines(results: readonly CaseResult[], told: Told, options: RunCasesOptions): readonly string[] {
  const { passed, failed, skipped } = countsOf(results)
  const cases = results.flatMap(({ file, name, verdict, took_ms, why, misses }, at) => [
    ...(results[at - 1]?.file === file ? [] : [file]),
    `  ${SIGNS[verdict]} ${name}${why === undefined ? ` (${took_ms} ms)` : `: skipped, ${why}`}`,
    ...misses.flatMap(missLines).map((line) => `  ${line}`),
  ])
  const also = skipped === 0 ? '' : `, ${skipped} skipped`
  const sum = `${count(passed + failed, 'case')}: ${passed} passed, ${failed} failed${also}, in ${told.took_ms} ms`
  const reached = options.coverage ? ['', ...coverageLines(told.reached)] : []
  return [...cases, ...reached, '', sum]
}

function writeText(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (cause) {
    const detail = `Cannot write "${path}": ${cause instanceof Error ? cause.message : String(cause)}.`
    throw new Refused({ code: 'unwritable_file', detail }, { exitCode: 2, cause })
  }
}
