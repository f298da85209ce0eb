import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Provider } from '../../shared/providers/provider.ts'
import { openTestPlace, type TestPlace } from '../integration/test-place.ts'
import { axeProblems, findBrowser, openBrowser, openPage } from './browser.ts'

const chromium = findBrowser()
let place: TestPlace
let browser: Browser

const quick: Provider = {
  dispatch: async ({ model }) => ({ text: 'done', tokens_in: 1, tokens_out: 1, model, finish_reason: 'stop' }),
}

const document = (name: string, team: string) => ({
  name,
  labels: { team },
  blocks: [{ id: 'a', outputs: { text: 'string' }, agent: { provider: 'quick', model: 'm-1', prompt: 'Go' } }],
})

describe.skipIf(chromium === undefined)('searching runs in a browser', () => {
  beforeAll(async () => {
    execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/install-if-needed.mjs', import.meta.url))])
    place = await openTestPlace({ listen: true, providers: { quick } }, { port: 0 })
    for (const [name, team] of [
      ['import', 'growth'],
      ['import', 'sales'],
      ['report', 'growth'],
    ] as const)
      await place.ended(await place.start(document(name, team)))
    browser = await openBrowser(chromium ?? '')
  })
  afterAll(async () => {
    await browser?.close()
    await place?.close()
  })

  async function opened(width: number, query = ''): Promise<Page> {
    const url = place.place.url ?? ''
    const { page, wrong } = await openPage(browser, url, { width })
    await page.goto(`${url}/#/runs${query}`)
    await page.getByRole('combobox', { name: 'Search' }).waitFor()
    expect(wrong).toEqual([])
    return page
  }
  const rows = (page: Page) => page.locator('table.runs tbody tr')
  const found = (page: Page, count: number) => expect.poll(() => rows(page).count()).toBe(count)

  /** Nothing of the page is wider than its window. */
  function fits(page: Page): Promise<boolean> {
    return page.locator('html').evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)
  }

  test('a query is completed by fields and by what runs here have, and its runs are shown', async () => {
    const page = await opened(1_280)
    await found(page, 3)
    const box = page.getByRole('combobox', { name: 'Search' })
    await box.pressSequentially('lab')
    await box.press('ArrowDown')
    await box.press('Enter')
    await expect.poll(() => box.inputValue()).toBe('label:')
    await page.getByRole('option', { name: 'team=growth' }).click()
    await expect.poll(() => box.inputValue()).toBe('label:team=growth ')
    await box.press('Enter')
    await found(page, 2)
    expect(page.url()).toContain('q=label')
    await page.getByRole('button', { name: 'Clear' }).click()
    await found(page, 3)
    await page.close()
  })

  test('what is wrong with a query is shown at its place', async () => {
    const page = await opened(1_280, '?q=dag%3Aimport+stat%3Afailed')
    const alert = page.locator('.search-box [role="alert"]')
    await alert.waitFor()
    expect(await alert.locator('mark').textContent()).toBe('stat:failed')
    expect(await alert.textContent()).toContain('Did you mean "state"?')
    expect(await axeProblems(page)).toEqual([])
    await page.close()
  })

  test.each([1_280, 390])('at %i pixels the form writes the query', async (width) => {
    const page = await opened(width, '?q=label%3Ateam%3Dgrowth')
    await found(page, 2)
    await page.getByRole('button', { name: 'Search by form' }).click()
    await page.getByLabel('State').selectOption('completed')
    await page.getByLabel('Document').fill('report')
    await page.getByLabel('Document').press('Enter')
    await found(page, 1)
    expect(await page.getByRole('combobox', { name: 'Search' }).inputValue()).toBe(
      'label:team=growth state:completed dag:report',
    )
    expect(await fits(page)).toBe(true)
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('combobox', { name: 'Search' }).fill('')
    await page.getByRole('combobox', { name: 'Search' }).pressSequentially('st')
    await page.close()
  })

  test.each([1_280, 390])(
    'at %i pixels a bulk shows its runs with their count, and is then carried out',
    async (width) => {
      const page = await opened(width, '?q=dag%3Aimport')
      await found(page, 2)
      await page.getByRole('button', { name: 'Do to all found' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('What').selectOption('label')
      await dialog.getByLabel('Set').fill(`seen=w${width}`)
      await dialog.getByRole('button', { name: 'Show the runs' }).click()
      await dialog.getByText('2 runs are found.').waitFor()
      expect(await axeProblems(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Change the labels of 2 runs' }).click()
      await dialog.getByText('2 of 2 done, 0 refused').waitFor()
      expect(await fits(page)).toBe(true)
      await dialog.getByRole('button', { name: 'Close' }).click()
      await page.getByRole('combobox', { name: 'Search' }).fill(`label:seen=w${width}`)
      await page.getByRole('combobox', { name: 'Search' }).press('Enter')
      await found(page, 2)
      await page.close()
    },
  )

  test.each([1_280, 390])(
    'at %i pixels a search is kept as a view, and its runs are counted in a chart',
    async (width) => {
      const page = await opened(width, '?q=dag%3Areport')
      await found(page, 1)
      page.once('dialog', (asked) => void asked.accept(`reports-${width}`))
      await page.getByRole('button', { name: 'Save as a view' }).click()
      const views = page.getByRole('combobox', { name: 'Saved views' })
      await expect.poll(() => views.inputValue().catch(() => '')).toBe(`reports-${width}`)
      await page.getByRole('button', { name: 'Clear', exact: true }).click()
      await found(page, 3)
      await page.getByRole('button', { name: 'Chart', exact: true }).click()
      await page.locator('.run-chart').getByLabel('By').selectOption('label.team')
      await page.getByText('3 runs are counted').waitFor()
      await page.locator('.chart-names').getByText('growth').waitFor()
      expect(await axeProblems(page)).toEqual([])
      expect(await fits(page)).toBe(true)
      await views.selectOption(`reports-${width}`)
      await found(page, 1)
      page.once('dialog', (asked) => void asked.accept())
      await page.getByRole('button', { name: 'Delete view' }).click()
      await page.getByRole('button', { name: 'Save as a view' }).waitFor()
      await page.close()
    },
  )

  test('an address of before is the same search', async () => {
    const page = await opened(1_280, '?status=completed&dag=import')
    await found(page, 2)
    expect(await page.getByRole('combobox', { name: 'Search' }).inputValue()).toBe('state:completed dag:import')
    await page.close()
  })
})
