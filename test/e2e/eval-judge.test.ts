import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ResultLine, readRound } from '../../shared/evals/round-file.ts'
import { json, type ProviderServer, serveProvider } from '../emulators/provider-server.ts'
import { axeProblems, findBrowser, openBrowser, openPage } from './browser.ts'
import { type Started, sluice, startSluice } from './run-cli.ts'

const ITEMS = 10
const REPLY = `name: reply
inputs: { text: string }
blocks:
  - id: write
    inputs: { text: string }
    outputs: { reply: string }
    agent: { provider: desk, model: writer, prompt: "curt {{inputs.text}}" }
`
const ASK = `name: ask
inputs: { body: string }
blocks:
  - id: write
    mode: deterministic
    inputs: { body: string }
    outputs: { note: artifact }
    deterministic: { handler: write-artifact, config: { name: note.md } }
    approval: { prompt: "Send it?", show: [body] }
`
const JUDGED = `data: { items: [${Array.from({ length: ITEMS }, (_, at) => `{ id: i${at}, values: { text: n${at} } }`).join(', ')}] }
document: ../dags/reply.yaml
variants:
  - { name: curt }
  - { name: kind, set: { write.agent.prompt: "please {{inputs.text}}" } }
gates:
  - { name: polite, block: write, check: { type: llm_review, port: reply, criteria: Polite, provider: desk, model: judge } }
concurrency: 2
budget: { usd: 0.2 }
thresholds:
  - { measure: gate, name: write/polite, variant: kind, min: 1 }
`

let folder: string
let model: ProviderServer
let place: Started

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-judge-'))
  for (const name of ['dags', 'evals']) mkdirSync(join(folder, name))
  // A script, no model: it writes the prompt down, and judges by one word.
  model = await serveProvider((response, { body }) => {
    const prompt = String(body.prompt)
    const [first = ''] = prompt.split('\n')
    const pass = prompt.includes('please n')
    const judged = { pass, rationale: pass ? 'It says please.' : 'It does not say please.' }
    const text = body.model === 'judge' ? JSON.stringify(judged) : first
    return json(200, { text, tokens_in: 30, tokens_out: 20, usd: 0.01 })(response, { path: '', headers: {}, body })
  })
  write(
    'sluice.yaml',
    `providers: { desk: { type: http, url: "${model.url}" } }\nsafety: { max_requests_per_min: 100000 }\n`,
  )
  write('dags/reply.yaml', REPLY)
  write('dags/ask.yaml', ASK)
  write('evals/judged.yaml', JUDGED)
  place = await startSluice(['start', '--port', '0', '--json'], folder, 'keep')
})
afterAll(async () => {
  await place?.stop('SIGTERM')
  await model?.close()
  rmSync(folder, { recursive: true, force: true })
})

function write(path: string, text: string): void {
  writeFileSync(join(folder, path), text)
}

async function evalRun(name: string, ...words: readonly string[]) {
  const args = ['eval', 'run', `evals/${name}.yaml`, '--json', '--url', String(place.first.url), ...words]
  const done = await sluice(args, { cwd: folder })
  return { ...done, report: done.out === '' ? undefined : JSON.parse(done.out) }
}

function newestRound(name: string): string {
  const results = join(folder, 'evals', 'results', name)
  return join(results, readdirSync(results).sort().at(-1) ?? '')
}

function resultsOf(name: string): readonly ResultLine[] {
  return readRound(readFileSync(newestRound(name), 'utf8'))?.results ?? []
}

describe('an evaluation with a judge', { timeout: 120_000 }, () => {
  test('ends within its budget, incomplete, and goes on with a larger one; no run is made twice', async () => {
    const first = await evalRun('judged')
    expect([first.code, first.report.complete]).toEqual([3, false])
    const spent = resultsOf('judged').reduce((sum, { usd }) => sum + (usd ?? 0), 0)
    expect(spent).toBeGreaterThan(0.1)
    expect(spent).toBeLessThanOrEqual(0.2)
    const rest = await evalRun('judged', '--budget-usd', '5')
    expect([rest.code, rest.report.done]).toEqual([0, 20])
    const written = model.asked.filter(({ body }) => body.model === 'writer')
    expect(new Set(written.map(({ body }) => body.prompt)).size).toBe(20)
    expect(written).toHaveLength(20)
  })

  test('keeps the words of the judge, and what was paid for them', () => {
    const results = resultsOf('judged')
    const words = (variant: string) => results.find((one) => one.variant === variant)?.gates[0]?.reason
    expect(words('kind')).toMatch(/It says please\./)
    expect(words('curt')).toMatch(/It does not say please\./)
    // The writer and one vote; or the writer and three.
    expect(new Set(results.map(({ variant, usd }) => `${variant} ${usd}`))).toEqual(new Set(['kind 0.02', 'curt 0.04']))
  })

  test('takes past runs as items: what they were given is asked again, and those of the round itself are none', async () => {
    write(
      'evals/again.yaml',
      'data: { runs: { dag: reply, limit: 5 } }\ndeployed: reply\ninputs: { text: "{{item.text}}" }\nvariants: [{ name: now }]\n',
    )
    const { code, report } = await evalRun('again')
    expect([code, report.items, report.done]).toEqual([0, 5, 5])
    const given = model.asked.slice(-5).map(({ body }) => String(body.prompt).split('\n')[0])
    expect(given.every((prompt) => /^curt n\d$/.test(prompt ?? ''))).toBe(true)
  })

  test.each([
    ['stop', 'cancelled', /asked a person, and nobody is there/],
    ['approve', 'completed', /completed/],
  ])('a run that asks a person: %s', async (decisions, state, reason) => {
    const text = `data: { items: [{ id: a, values: { body: hello } }] }\ndocument: ../dags/ask.yaml\nvariants: [{ name: v }]\n`
    write(`evals/${decisions}.yaml`, `${text}decisions: ${decisions}\n`)
    const { code } = await evalRun(decisions)
    const [result] = resultsOf(decisions)
    expect([code, result?.state]).toEqual([0, state])
    expect(result?.reason).toMatch(reason)
  })

  test('a server that is not there is told at once, and no round is begun', async () => {
    write('evals/nowhere.yaml', JUDGED)
    const { code, err } = await sluice(['eval', 'run', 'evals/nowhere.yaml', '--url', 'http://127.0.0.1:1'], {
      cwd: folder,
    })
    expect([code, err]).toEqual([1, expect.stringMatching(/\[no_server\]/)])
    expect(() => newestRound('nowhere')).toThrow(/ENOENT/)
  })
})

const chromium = findBrowser()

describe.skipIf(chromium === undefined)('the console', { timeout: 120_000 }, () => {
  let browser: Browser
  beforeAll(async () => {
    execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/install-if-needed.mjs', import.meta.url))])
    browser = await openBrowser(chromium ?? '')
  })
  afterAll(() => browser?.close())

  test('shows two variants side by side with the words of the judge, and leads to both runs', async () => {
    const url = String(place.first.url)
    const { page, wrong } = await openPage(browser, url)
    await page.goto(`${url}/#/evals`)
    await page.getByLabel('A round').setInputFiles(newestRound('judged'))
    await page.getByText('10 of 10 items').waitFor()
    expect(await page.getByRole('row', { name: 'gate write/polite 0 of 10 10 of 10' }).count()).toBe(1)
    const [item] = await page.locator('.eval-item').allTextContents()
    expect(item).toMatch(
      /i0 A ✕ failed B ✓ passed.*gate write\/polite✕ failed.*It does not say please\.✓ passed.*It says please\./,
    )
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('link', { name: 'Compare the runs' }).first().click()
    await page.getByRole('heading', { name: 'Compare two runs' }).waitFor()
    await page.getByText('output reply').first().waitFor()
    await page.goBack()
    await page.getByText('10 of 10 items').waitFor()
    await page.getByLabel('A round').setInputFiles(join(folder, 'sluice.yaml'))
    await page.getByText('sluice.yaml is no round.').waitFor()
    expect(wrong).toEqual([])
  })
})
