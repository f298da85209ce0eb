import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Provider } from '../../shared/providers/provider.ts'
import { openTestPlace, type TestPlace } from '../integration/test-place.ts'
import { findBrowser, openBrowser, openPage } from './browser.ts'

const chromium = findBrowser()
let place: TestPlace
let browser: Browser
let live = ''

/** Prompts that say so are answered without a price. */
const paid: Provider = {
  dispatch: async ({ prompt, model }) => {
    const price = prompt.includes('unpriced') ? {} : { usd: 0.0021 }
    return { text: 'done', tokens_in: 1_200, tokens_out: 50, ...price, model, finish_reason: 'stop' }
  },
}
const block = (id: string, prompt: string, more: object = {}) => ({
  id,
  outputs: { text: 'string' },
  agent: { provider: 'paid', model: 'm-1', prompt },
  ...more,
})

describe.skipIf(chromium === undefined)('the list of runs in a browser', () => {
  beforeAll(async () => {
    execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/install-if-needed.mjs', import.meta.url))])
    place = await openTestPlace({ listen: true, providers: { paid } }, { port: 0 })
    await place.ended(await place.start({ name: 'mixed', blocks: [block('a', 'Go'), block('b', 'unpriced')] }))
    await place.ended(await place.start({ name: 'known', blocks: [block('a', 'Go')] }))
    live = await place.start({ name: 'asks', blocks: [block('a', 'Go', { approval: { prompt: 'Go on?' } })] })
    await place.until(live, ({ type }) => type === 'approval:requested')
    browser = await openBrowser(chromium ?? '')
  })
  afterAll(async () => {
    await browser?.close()
    await place?.close()
  })

  async function opened(width: number): Promise<{ readonly page: Page; readonly asked: readonly string[] }> {
    const url = place.place.url ?? ''
    const { page, wrong } = await openPage(browser, url, { width })
    const asked: string[] = []
    page.on('request', (request) => {
      const id = /\/api\/dag\/runs\/(run_\w+)$/.exec(request.url())?.[1]
      if (id !== undefined) asked.push(id)
    })
    await page.goto(`${url}/#/runs`)
    await page.getByText('waiting for approval of a').waitFor()
    expect(wrong).toEqual([])
    return { page, asked }
  }

  test('tells of ended runs what they cost, how long they took and why they ended without asking for each', async () => {
    const { page, asked } = await opened(1_280)
    const cells = async (dag: string, cell: string) =>
      (await page.locator(`tr:has-text("${dag}") .${cell}-cell`).textContent())?.trim()
    expect(await cells('mixed', 'tokens')).toBe('2,500')
    expect(await cells('mixed', 'cost')).toBe('≥ $0.0021')
    expect(await page.locator('tr:has-text("mixed") .cost-cell').getAttribute('title')).toBe(
      '$0.0021 and 1,250 tokens of unknown price',
    )
    expect(await cells('known', 'cost')).toBe('$0.0021')
    expect(await cells('known', 'words')).toBe('its one block completed')
    expect(await cells('known', 'elapsed')).toMatch(/\d m?s$/)
    expect(new Set(asked)).toEqual(new Set([live]))
    await page.close()
  })

  test.each([1_280, 1_000])('at %i pixels no cell runs into the next, and the boxes take no room', async (width) => {
    const { page } = await opened(width)
    const cells = page.locator('table.runs tbody :is(td, th)')
    const wide = await cells.evaluateAll((all) =>
      all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).map(({ className }) => className),
    )
    expect(wide).toEqual([])
    expect((await page.locator('table.runs td.pick').first().boundingBox())?.width).toBeLessThan(60)
    await page.close()
  })
})
