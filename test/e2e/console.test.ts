import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { firstDaily } from '../how-much.ts'
import { axeProblems, findBrowser, openBrowser, openPage, type Watched } from './browser.ts'
import { type Started, sluice, startSluice } from './run-cli.ts'

const chromium = findBrowser()
if (chromium === undefined)
  process.stdout.write('console in a browser: skipped, since no Chromium is here (CHROMIUM names one).\n')

/** Two questions, one after the other is not: either may come first; then a join. */
const ASKING = `
name: asking
description: Takes a text that somebody approves.
inputs: { text: string }
blocks:
  - id: draft
    mode: deterministic
    inputs: { text: string }
    deterministic: { handler: transform, config: { expression: '"Draft: " & inputs.text' } }
    outputs: { body: string }
    post_gates: [{ name: long-enough, check: { type: min_length, port: body, min: 5 } }]
  - id: send
    mode: deterministic
    inputs: { body: { from: draft.body } }
    approval: { required: true, prompt: Send this text?, show: [body] }
    deterministic: { handler: transform, config: { expression: '"Sent: " & inputs.body' } }
    outputs: { receipt: string }
`

/** Too many for the page's own thread: a worker lays them out. Each reads two of those shortly before it. */
const MANY = `name: many\nblocks:\n${Array.from({ length: 200 }, (_, i) => {
  const read =
    i < 2 ? '' : `inputs: { a: { from: b${Math.max(0, i - 7)}.t }, b: { from: b${i - 1 - (i % 5 === 0 ? 1 : 0)}.t } }, `
  return `  - { id: b${i}, mode: deterministic, ${read}outputs: { t: string }, deterministic: { handler: transform, config: { expression: '"x"' } } }`
}).join('\n')}\n`

/** What axe looks at, of a run that waits. */
const PAGES: readonly (readonly [string, (id: string) => string])[] = [
  ['a graph with its inspector', (id) => `#/runs/${id}/graph?block=draft`],
  ['approvals', () => '#/approvals'],
  ['runs', () => ''],
  ['events', (id) => `#/runs/${id}/events`],
  ['a goal', (id) => `#/runs/${id}/goal`],
  ['two runs', (id) => `#/compare/${id}/${id}`],
  ['safety', () => '#/safety'],
  ['triggers', () => '#/triggers'],
  ['an address of nothing', () => '#/nowhere'],
  ['a start', () => '#/start'],
  ['a timeline', (id) => `#/runs/${id}/timeline`],
]
/** Daily both themes show the graph, and each then one other. */
const THEMES = [
  ['dark', PAGES],
  ['light', [...PAGES.slice(0, 1), ...PAGES.slice(1).toReversed()]],
] as const

/** What is read of the answers here. */
interface Answer {
  readonly run?: { readonly state: string }
  readonly approvals?: readonly { readonly run_id: string; readonly approval_id: string }[]
}

describe.skipIf(chromium === undefined)('the console, in Chromium', () => {
  let folder: string
  let place: Started
  let url: string
  let browser: Browser
  let context: BrowserContext
  let watched: Watched | undefined

  beforeAll(async () => {
    execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/install-if-needed.mjs', import.meta.url))])
    folder = mkdtempSync(join(tmpdir(), 'sluice-console-'))
    writeFileSync(join(folder, 'asking.yaml'), ASKING)
    writeFileSync(join(folder, 'many.yaml'), MANY)
    place = await startSluice(['start', '--port', '0', '--json', '--example'], folder)
    url = String(place.first.url)
    browser = await openBrowser(chromium ?? '')
    context = await browser.newContext()
  })
  afterAll(async () => {
    await browser?.close()
    await place?.stop('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    const wrong = watched?.wrong ?? []
    await watched?.page.close()
    watched = undefined
    expect(wrong, 'errors of scripts and requests to elsewhere').toEqual([])
  })

  const open = async (path: string, options: Parameters<typeof openPage>[2] = {}) => {
    watched = await openPage(context, url, options)
    await watched.page.goto(`${url}/${path}`)
    return watched.page
  }
  const start = async (text: string): Promise<string> => {
    const args = ['run', 'start', 'asking.yaml', '--input', `text=${text}`, '--json', '--url', url]
    const { out, err } = await sluice(args, { cwd: folder })
    if (out === '') throw new Error(err)
    return JSON.parse(out).run_id
  }
  const ask = async (path: string) => (await fetch(`${url}${path}`)).json() as Promise<Answer>
  const waits = async (run_id: string) => {
    while ((await ask(`/api/dag/runs/${run_id}`)).run?.state !== 'paused_approval') await delay(20)
  }

  test('a stranger starts the example, sees it run to its end and reads why', async () => {
    const page = await open('')
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
    await page
      .getByRole('link', { name: 'Start a run' })
      .or(page.getByRole('button', { name: 'Start a run' }))
      .click()
    await page.getByLabel('Deployed document').selectOption('basic')
    await page.getByLabel('goal').fill('Compare Oslo, Bergen and Tromsø for a conference')
    await page.getByRole('button', { name: 'Start the run' }).click()
    await page.getByRole('heading', { level: 1, name: 'basic' }).waitFor()
    await page.locator('h1 ~ [data-state="completed"], header [data-state="completed"]').first().waitFor()
    const first = page.locator('[data-block]').first()
    await first.click()
    const inspector = page.getByRole('complementary', { name: /^Block / })
    await inspector.waitFor()
    await expect.poll(() => inspector.textContent()).toContain('Compare Oslo, Bergen and Tromsø')
    // What it shows can be linked to.
    expect(page.url()).toMatch(/#\/runs\/run_[0-9a-z]{26}\/graph\?block=/)
  })

  test('the replay slider shows the graph as it was at any event', { tags: ['thorough'] }, async () => {
    const id = await start('replayed')
    await waits(id)
    const page = await open(`#/runs/${id}/graph`)
    const send = page.locator('[data-block="send"]')
    await send.waitFor()
    await expect.poll(() => send.getAttribute('data-state')).toBe('paused_approval')
    const slider = page.getByRole('slider', { name: 'Event shown' })
    await slider.focus()
    await page.keyboard.press('Home')
    await expect.poll(() => page.locator('[data-block="draft"]').getAttribute('data-state')).toBe('pending')
    await expect.poll(() => send.getAttribute('data-state')).toBe('pending')
    await expect.poll(() => page.url()).toContain('seq=')
    await page.keyboard.press('End')
    await expect.poll(() => send.getAttribute('data-state')).toBe('paused_approval')
  })

  test('200 blocks are drawn, laid out by a worker, and one of them is opened', async () => {
    const { out, err } = await sluice(['run', 'start', 'many.yaml', '--json', '--url', url], { cwd: folder })
    if (out === '') throw new Error(err)
    const id: string = JSON.parse(out).run_id
    await expect.poll(async () => (await ask(`/api/dag/runs/${id}`)).run?.state, { timeout: 60_000 }).toBe('completed')
    const page = await open('')
    const workers: string[] = []
    page.on('worker', (worker) => workers.push(worker.url()))
    await page.goto(`${url}/#/runs/${id}/graph`)
    await expect.poll(() => page.locator('[data-block]').count(), { timeout: 30_000 }).toBe(200)
    expect(workers).toHaveLength(1)
    const places = await page
      .locator('[data-block]')
      .evaluateAll((nodes) =>
        nodes.map((node) =>
          JSON.stringify((node as unknown as { getBoundingClientRect(): object }).getBoundingClientRect()),
        ),
      )
    expect(new Set(places).size).toBe(200)
    await page.goto(`${url}/#/runs/${id}/graph?block=b199`)
    await page.getByRole('complementary', { name: 'Block b199' }).waitFor()
  })

  test('an approval is given with the keyboard alone, after all that is shown was read', async () => {
    const id = await start('<b>by keys</b> &amp; nothing else')
    await waits(id)
    const page = await open('')
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor()
    const { approvals } = await ask(`/api/dag/approvals?status=pending`)
    const mine = approvals?.find(({ run_id }) => run_id === id)
    const row = page.locator(`[data-approval="${mine?.approval_id}"]`)
    await row.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Draft: <b>by keys</b> &amp; nothing else').first().waitFor()
    await page.keyboard.press('a')
    const dialog = page.getByRole('dialog', { name: /^Approve send of asking/ })
    await dialog.waitFor()
    const yes = dialog.getByRole('button', { name: 'Approve send' })
    for (let tabs = 0; tabs < 20 && !(await yes.evaluate((button) => button.matches(':focus'))); tabs += 1)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await ask(`/api/dag/runs/${id}`)).run?.state).toBe('completed')
    await page.getByRole('status').filter({ hasText: 'Approved send of asking' }).waitFor()
  })

  test('what is not as deployed is read before the question, and again in the dialog that decides', async () => {
    const body = { dag: ASKING, inputs: { text: 'as it is' }, overrides: { 'send.body': 'another text' } }
    const headers = { 'content-type': 'application/json' }
    const started = await fetch(`${url}/api/dag/run`, { method: 'POST', headers, body: JSON.stringify(body) })
    const { run_id } = (await started.json()) as { readonly run_id: string }
    await waits(run_id)
    const { approvals } = await ask('/api/dag/approvals?status=pending')
    const mine = approvals?.find((one) => one.run_id === run_id)
    const page = await open(`#/approvals?approval=${mine?.approval_id}`)
    await page.getByText('Override: send.body = "another text"').waitFor()
    const words = (await page.locator('article header').first().textContent()) ?? ''
    expect(words).toMatch(/^Not a plain start of the deployed document[\s\S]*Send this text\?/)
    await page.keyboard.press('a')
    await page.getByRole('dialog').getByText('Override: send.body = "another text"').waitFor()
  })

  test('the question a reader looks at stays when it is decided elsewhere, and an open dialog says by whom', async () => {
    const id = await start('seen first')
    await waits(id)
    const page = await open('#/approvals')
    const shown = page.locator('article h2')
    await shown.waitFor()
    const run = (await page.locator('article code').first().textContent()) ?? ''
    const { approvals } = await ask('/api/dag/approvals?status=pending')
    const mine = approvals?.find(({ run_id }) => run_id.includes(run))?.run_id ?? ''
    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('half a sen')
    const { code } = await sluice(['run', 'reject', '--yes', mine, '--feedback', 'elsewhere', '--url', url])
    expect(code).toBe(0)
    await dialog.getByRole('alert').filter({ hasText: 'This was already rejected by' }).waitFor()
    expect(await dialog.getByRole('textbox').inputValue()).toBe('half a sen')
    expect(await page.locator('article code').first().textContent()).toBe(run)
  })

  test('a run is stopped after a question, and one that was decided elsewhere says by whom', async () => {
    const [stopped, decided] = [await start('to stop'), await start('decided elsewhere')]
    await waits(stopped)
    await waits(decided)
    const page = await open(`#/runs/${stopped}/graph`)
    // Not the one in the header, which stops all.
    await page.getByRole('main').getByRole('button', { name: /^Stop/ }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: /^Stop/ }).click()
    await expect.poll(async () => (await ask(`/api/dag/runs/${stopped}`)).run?.state).toBe('cancelled')
    const { approvals } = await ask('/api/dag/approvals?status=pending')
    const mine = approvals?.find(({ run_id }) => run_id === decided)
    await page.goto(`${url}/#/approvals?approval=${mine?.approval_id}`)
    await page.getByText('Draft: decided elsewhere').first().waitFor()
    await page.keyboard.press('a')
    const late = page.getByRole('dialog')
    await late.getByRole('textbox').fill('looks right to me')
    // The page hears nothing of what is decided meanwhile, and asks for it as it was.
    await page.route('**/api/dag/approvals?*', (asked) => asked.fulfill({ status: 503, json: { code: 'store_busy' } }))
    const { code } = await sluice(['run', 'reject', '--yes', decided, '--feedback', 'not today', '--url', url])
    expect(code).toBe(0)
    await late.getByRole('button', { name: 'Approve send' }).click()
    await late
      .getByRole('alert')
      .filter({ hasText: /already/ })
      .waitFor()
    // Once it hears, the dialog is still there with what was written, and can no longer send it.
    await page.unroute('**/api/dag/approvals?*')
    await late.getByRole('button', { name: 'Close' }).waitFor()
    expect(await late.getByRole('textbox').inputValue()).toBe('looks right to me')
    expect(await late.getByRole('button', { name: 'Approve send' }).count()).toBe(0)
    await late.getByRole('button', { name: 'Close' }).click()
    await page.getByText('not today').waitFor()
  })

  describe.each(THEMES)('axe finds nothing in the %s theme', (colorScheme, pages) => {
    let id = ''
    beforeAll(async () => {
      id = await start(`axe ${colorScheme}`)
      await waits(id)
    })
    for (const { tags, rows } of firstDaily(2, pages))
      test.each(rows)('%s', { tags }, async (_, path) => {
        const page = await open(path(id), { colorScheme })
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        // The stream of a live run never rests: what is asked once is there by then.
        await delay(500)
        expect(await axeProblems(page)).toEqual([])
      })
  })

  test('at 390 pixels nothing is wider than the window, and a busy server is asked again', async () => {
    const id = await start('narrow')
    await waits(id)
    const page = await open('', { width: 390, height: 800 })
    const over = () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    const problem = { code: 'store_busy', detail: 'Busy.' }
    await page.route(`**/runs/${id}`, (asked) => asked.fulfill({ status: 503, json: problem }), { times: 2 })
    for (const path of [
      '',
      ...['graph', 'events', 'timeline'].map((tab) => `#/runs/${id}/${tab}`),
      '#/approvals',
      '#/start',
    ]) {
      await page.goto(`${url}/${path}`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      // What is still coming may push for a moment.
      await expect.poll(over, { message: path, timeout: 10_000 }).toBe(0)
      if (path.endsWith('graph')) await page.getByRole('heading', { level: 1, name: 'asking' }).waitFor()
    }
  })
})
