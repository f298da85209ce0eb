import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestPlace, type TestPlace } from '../integration/test-place.ts'
import { axeProblems, findBrowser, openBrowser, openPage } from './browser.ts'

const chromium = findBrowser()
let place: TestPlace
let browser: Browser

const AT = '2026-05-01T00:00:00.000Z'
const id = (type: string, name: string) => `acme.test.rail.net.${type}.${name}`
const thing = (type: string, name: string, label: string, says: object = {}, rest: object = {}) => {
  const entity_id = id(type, name)
  const triples = Object.entries(says).map(([predicate, object]) => {
    return { subject: entity_id, predicate, object, source: 'test', timestamp: AT }
  })
  return { entity_id, label, type, triples, ...rest }
}
const THINGS = [
  thing(
    'line',
    'coast',
    'Coastal Line',
    { 'rail.line.operator': id('company', 'skane'), 'rail.line.length_km': 132 },
    {
      aliases: ['C1'],
      body: 'The Coastal Line ends at Marel Harbour. The council planned to close the line in 2012.',
    },
  ),
  thing('company', 'skane', 'Skane Railways', { 'rail.company.founded': 1901 }),
  thing('station', 'marel', 'Marel Harbour'),
  thing('station', 'fern', 'Coastal Fern Hill'),
]

describe.skipIf(chromium === undefined)('the graph in a browser', () => {
  beforeAll(async () => {
    execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/install-if-needed.mjs', import.meta.url))])
    place = await openTestPlace({ listen: true }, { port: 0 })
    const sent = await fetch(`${place.place.url}/api/graph/entities`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ entities: THINGS }),
    })
    expect(sent.status).toBe(200)
    browser = await openBrowser(chromium ?? '')
  })
  afterAll(async () => {
    await browser?.close()
    await place?.close()
  })

  async function opened(
    path: string,
    width = 1_280,
  ): Promise<{ readonly page: Page; readonly wrong: readonly string[] }> {
    const url = place.place.url ?? ''
    const watched = await openPage(browser, url, { width })
    await watched.page.goto(`${url}/#/${path}`)
    return watched
  }

  test('finds by keys alone, says what was looked for instead, and shows what is known of a thing', async () => {
    const { page, wrong } = await opened('runs')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await page.keyboard.type('gk')
    await page.getByRole('heading', { name: 'Knowledge' }).waitFor()
    const field = page.getByRole('searchbox')
    const isIn = () => field.evaluate((one) => one === one.ownerDocument.activeElement)
    await expect
      .poll(async () => {
        if (!(await isIn())) await page.keyboard.press('/')
        return await isIn()
      })
      .toBe(true)
    await page.keyboard.type('costal line')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing has the word “costal”, so “coastal” was looked for.').waitFor()
    expect(await isIn()).toBe(true)
    await page.getByRole('link', { name: 'Coastal Line', exact: true }).first().focus()
    await page.keyboard.press('Enter')
    const card = page.getByRole('article', { name: 'Coastal Line' })
    await card.waitFor()
    expect(
      await card
        .getByRole('heading', { name: 'Coastal Line' })
        .evaluate((one) => one === one.ownerDocument.activeElement),
    ).toBe(true)
    const text = (await card.textContent()) ?? ''
    expect(text).toContain('Also called C1')
    expect(text).toContain(`Cited as ${id('line', 'coast')}`)
    expect(text).toContain('objstore://main/')
    expect(text).toContain('length km: 132')
    expect(text).toContain('operator')
    expect(text).toContain('is named in the text')
    await card.getByRole('link', { name: 'Skane Railways' }).click()
    await page.getByRole('article', { name: 'Skane Railways' }).waitFor()
    await page.goBack()
    await card.waitFor()
    expect(wrong).toEqual([])
    await page.close()
  })

  test('narrows down by type, and an address says all of it', async () => {
    const { page, wrong } = await opened('graph?q=coastal')
    await page.getByRole('button', { name: /^station/ }).click()
    await page.getByText('of type station, best first').waitFor()
    expect(await page.locator('.graph-list > li').count()).toBe(1)
    expect(page.url()).toMatch(/q=coastal&type=station$/)
    await page.goto(`${place.place.url}/#/graph?q=zzzzqq`)
    await page.getByText('Nothing has these words.').waitFor()
    expect(wrong).toEqual([])
    await page.close()
  })

  test.each([1_280, 390])('at %i pixels nothing is cut off, and axe finds nothing', async (width) => {
    const { page, wrong } = await opened(`graph?q=coastal&thing=${id('line', 'coast')}`, width)
    await page.getByRole('article', { name: 'Coastal Line' }).waitFor()
    const over = await page.evaluate(() => {
      const document = Reflect.get(globalThis, 'document') as {
        documentElement: { scrollWidth: number; clientWidth: number }
      }
      return document.documentElement.scrollWidth - document.documentElement.clientWidth
    })
    expect(over).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    if (process.env.SHOTS !== undefined)
      await page.screenshot({ path: `${process.env.SHOTS}/graph-${width}.png`, fullPage: true })
    expect(wrong).toEqual([])
    await page.close()
  })

  async function asked(topic: string): Promise<string> {
    const sent = await fetch(`${place.place.url}/api/research`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ topic }),
    })
    const { run_id } = (await sent.json()) as { run_id: string }
    await place.ended(run_id)
    return run_id
  }

  test.each([
    ['Who is the operator of the Coastal Line?', 'yes', 'Answer'],
    ['Was the Coastal Line closed in 2012?', 'maybe', 'No answer, but passages that may answer it'],
    ['What is the capital of Atlantis?', 'no', 'No answer'],
  ])('%s: the verdict is said before the answer', async (topic, answers, words) => {
    const run = await asked(topic)
    const { page, wrong } = await opened(`runs/${run}/research`, 390)
    const verdict = page.locator('[data-answers]')
    await verdict.waitFor()
    expect(await verdict.getAttribute('data-answers')).toBe(answers)
    expect((await verdict.textContent())?.replace(/^\W+/, '')).toBe(words)
    await page.getByText(answers === 'yes' ? 'Compared here with' : 'Nothing above is claimed').waitFor()
    const passages = page.getByRole('region', { name: 'Passages that may answer it' })
    expect(await passages.count()).toBe(answers === 'maybe' ? 1 : 0)
    expect(await page.locator('.research-answer .state').count()).toBe(answers === 'yes' ? 1 : 0)
    expect(await axeProblems(page)).toEqual([])
    if (process.env.SHOTS !== undefined)
      await page.screenshot({ path: `${process.env.SHOTS}/verdict-${answers}.png`, fullPage: true })
    expect(wrong).toEqual([])
    await page.close()
  })
})
