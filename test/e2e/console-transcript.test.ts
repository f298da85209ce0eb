import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { streamOf } from '../emulators/openai-server.ts'
import type { ProviderServer } from '../emulators/provider-server.ts'
import { calls, startScriptedModel } from '../emulators/scripted-model.ts'
import { axeProblems, findBrowser, openBrowser, openPage, type Watched } from './browser.ts'
import { type Started, sluice, startSluice } from './run-cli.ts'

const chromium = findBrowser()

/** An agent that writes, is asked about that, and asks on its own. */
const ACTING = `
name: acting
inputs: { topic: string }
blocks:
  - id: act
    outputs: { answer: string }
    agent:
      provider: model
      model: m
      prompt: Write about {{inputs.topic}}.
      tools:
        - use: artifact.write
          gates: [{ name: short, check: { type: max_length, port: text, max: 200 } }]
          approval: { when: "args.name != 'free.md'", prompt: "Write {{args.name}}?", edit: [text], allow_rest: true }
        - ask_person
`

const SPEAKING = `
name: speaking
blocks: [{ id: say, outputs: { text: string }, agent: { provider: model, model: slow, prompt: Speak. } }]
`

interface Answer {
  readonly run?: { readonly state: string }
}

describe.skipIf(chromium === undefined)('the transcript of an agent, in Chromium', () => {
  let folder: string
  let place: Started
  let model: ProviderServer
  let url: string
  let browser: Browser
  let context: BrowserContext
  let watched: Watched | undefined
  let goOn = Promise.withResolvers<void>()

  beforeAll(async () => {
    execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/install-if-needed.mjs', import.meta.url))])
    folder = mkdtempSync(join(tmpdir(), 'sluice-transcript-'))
    model = await startScriptedModel(({ model: named, turn }) => {
      if (named === 'slow') return { serve: halting() }
      if (turn === 0) {
        const write = (name: string, text: string) => ({ tool: 'artifact__write', arguments: { name, text } })
        const text = 'I write three files: one that is free, one that I have to ask about, and one that is too long.'
        return {
          ...calls(write('free.md', 'Free.'), write('asked.md', 'First words.'), write('long.md', 'x'.repeat(300))),
          text,
        }
      }
      if (turn === 1) {
        const fields = [
          { name: 'amount', type: 'number', label: 'Amount in euros' },
          { name: 'urgent', type: 'boolean' },
        ]
        return calls({ tool: 'ask_person', arguments: { question: 'How much may it cost?', fields } })
      }
      return 'All is written.'
    })
    mkdirSync(join(folder, 'dags'))
    writeFileSync(join(folder, 'dags', 'acting.yaml'), ACTING)
    writeFileSync(join(folder, 'dags', 'speaking.yaml'), SPEAKING)
    writeFileSync(
      join(folder, 'sluice.yaml'),
      `dags: [dags]\nproviders: { model: { type: openai-compatible, url: "${model.url}" } }\n`,
    )
    place = await startSluice(['start', '--port', '0', '--json'], folder)
    url = String(place.first.url)
    browser = await openBrowser(chromium ?? '')
    context = await browser.newContext()
  })
  afterAll(async () => {
    goOn.resolve()
    await browser?.close()
    await place?.stop('SIGTERM')
    await model?.close()
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    const wrong = watched?.wrong ?? []
    await watched?.page.close()
    watched = undefined
    expect(wrong, 'errors of scripts and requests to elsewhere').toEqual([])
  })

  /** Its first words, and the rest when the test has seen them. */
  function halting(): NonNullable<import('../emulators/scripted-model.ts').ScriptedAnswer['serve']> {
    return async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const events = streamOf('These are the first words, and this is the end.').split(/(?<=\n\n)/)
      const half = events.length - 20
      response.write(events.slice(0, half).join(''))
      await goOn.promise
      response.end(events.slice(half).join(''))
    }
  }
  const open = async (path: string, options: Parameters<typeof openPage>[2] = {}): Promise<Page> => {
    watched = await openPage(context, url, options)
    await watched.page.goto(`${url}/${path}`)
    return watched.page
  }
  const start = async (name: string, ...more: readonly string[]): Promise<string> => {
    const { out, err } = await sluice(['run', 'start', name, ...more, '--json', '--url', url], { cwd: folder })
    if (out === '') throw new Error(err)
    return JSON.parse(out).run_id
  }
  const ask = async (path: string) => (await fetch(`${url}${path}`)).json() as Promise<Answer>
  const waits = async (run_id: string) => {
    while ((await ask(`/api/dag/runs/${run_id}`)).run?.state !== 'paused_approval') await delay(20)
  }

  test('is read as a conversation, and its questions are answered in it: changed arguments, a form', async () => {
    const id = await start('acting', '--input', 'topic=bees')
    await waits(id)
    const page = await open(`#/runs/${id}/transcript`)
    await page.getByText('I write three files').waitFor()
    const line = (text: string) => page.locator('.call summary').filter({ hasText: text })
    await line('free.md').filter({ hasText: 'completed' }).waitFor()
    await line('long.md').filter({ hasText: 'refused' }).filter({ hasText: 'short' }).waitFor()
    // What waits is open, what is done is folded.
    await page.locator('.call-question').filter({ hasText: 'Write asked.md?' }).waitFor()
    expect(await page.getByText('5 bytes').count()).toBe(0)
    await line('free.md').click()
    await page.getByText('5 bytes').waitFor()
    await shot(page, 'asked')
    expect(await axeProblems(page)).toEqual([])

    await page.getByRole('button', { name: 'Allow …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Allow: call 2 of turn 1 (artifact.write) of act' })
    await dialog.getByLabel('text').fill('Better words.')
    await shot(page, 'dialog')
    await dialog.getByRole('button', { name: 'Allow', exact: true }).click()

    await page.locator('.call-question').filter({ hasText: 'How much may it cost?' }).waitFor()
    await waits(id)
    await page.getByRole('button', { name: 'Answer …', exact: true }).click()
    const form = page.getByRole('dialog', { name: /^Answer: call 1 of turn 2/ })
    await form.getByLabel('amount').fill('12')
    await form.getByLabel('urgent').selectOption('true')
    await shot(page, 'form')
    await form.getByRole('button', { name: 'Answer', exact: true }).click()
    await page.getByText('All is written.').waitFor()
    await expect.poll(async () => (await ask(`/api/dag/runs/${id}`)).run?.state).toBe('completed')
    await page.getByText('Better words.').first().waitFor()
    await shot(page, 'done')
    expect(await axeProblems(page)).toEqual([])

    await page.getByRole('link', { name: 'Timeline' }).click()
    const bar = page.getByRole('button', { name: /^act, call 1 of turn 1 \(artifact\.write\), try 1: completed/ })
    await bar.waitFor()
    await page.getByRole('button', { name: /^act, call 3 of turn 1 \(artifact\.write\), try 1: refused/ }).waitFor()
    await shot(page, 'timeline')
    await page.getByRole('link', { name: 'Events' }).click()
    await page.getByText('act call 1 of turn 1 (artifact.write)').first().waitFor()
    await page.getByRole('link', { name: 'Graph' }).click()
    await page.locator('[data-block="act"] [title="3 turns, 4 calls (1 refused)"]').waitFor()
    await shot(page, 'graph')
  })

  test('a call is denied with words that the agent is told, at the width of a phone', {
    tags: ['thorough'],
  }, async () => {
    const id = await start('acting', '--input', 'topic=rain')
    await waits(id)
    const page = await open(`#/runs/${id}/transcript`, { width: 390, height: 800, colorScheme: 'light' })
    await page.getByRole('button', { name: 'Deny …' }).click()
    const dialog = page.getByRole('dialog', { name: /^Deny: call 2 of turn 1/ })
    await dialog.getByLabel(/Why not/).fill('never on a Friday')
    await shot(page, 'narrow-dialog')
    await dialog.getByRole('button', { name: 'Deny', exact: true }).click()
    await page
      .locator('.call summary')
      .filter({ hasText: 'asked.md' })
      .filter({ hasText: 'never on a Friday' })
      .waitFor()
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(390)
    await shot(page, 'narrow')
    expect(await axeProblems(page)).toEqual([])
  })

  test('what a model says is seen before it has ended', async () => {
    const id = await start('speaking')
    const page = await open(`#/runs/${id}/graph?block=say`)
    await page.getByRole('complementary', { name: 'Block say' }).getByText('These are the first words').waitFor()
    expect((await ask(`/api/dag/runs/${id}`)).run?.state).toBe('running')
    await shot(page, 'says')
    goOn.resolve()
    await expect.poll(async () => (await ask(`/api/dag/runs/${id}`)).run?.state).toBe('completed')
    goOn = Promise.withResolvers<void>()
  })
})

/** SHOTS names a folder: the pages are photographed there. */
async function shot(page: Page, name: string): Promise<void> {
  const { SHOTS } = process.env
  if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`) })
}
