import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestPlace, type TestPlace } from '../integration/test-place.ts'
import { findBrowser, openBrowser, openPage } from './browser.ts'

const chromium = findBrowser()
const DOCUMENT = {
  name: 'telling',
  blocks: [
    {
      id: 'write',
      mode: 'deterministic',
      outputs: { n: { type: 'number' } },
      deterministic: { handler: 'transform', config: { expression: '1' } },
    },
  ],
}
let place: TestPlace
let browser: Browser

describe.skipIf(chromium === undefined)('holding and erasing a run in a browser', () => {
  beforeAll(async () => {
    execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/install-if-needed.mjs', import.meta.url))])
    place = await openTestPlace({ listen: true }, { port: 0 })
    browser = await openBrowser(chromium ?? '')
  })
  afterAll(async () => {
    await browser?.close()
    await place?.close()
  })

  const mark = async (run: string) => {
    const { json }: { readonly json: { readonly hold?: object; readonly erasure?: { readonly step: string } } } =
      await place.call('get-erasure', run)
    return json
  }

  test('a run that is held is not erased; once that is lifted it is, after words of what goes and what stays', async () => {
    const run = await place.start(DOCUMENT)
    await place.ended(run)
    const url = place.place.url ?? ''
    const { page, wrong } = await openPage(browser, url)
    await page.goto(`${url}/#/runs/${run}/graph`)
    const dialog = page.getByRole('dialog')
    const press = (name: string) => page.getByRole('main').getByRole('button', { name }).click()

    await press('Hold…')
    expect(await dialog.getByRole('button', { name: 'Hold' }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('An audit')
    await dialog.getByRole('button', { name: 'Hold' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await mark(run)).toMatchObject({ hold: { reason: 'An audit' } })

    await press('Erase…')
    await dialog.getByText('Goes, for good').waitFor()
    await dialog.getByText('A record: its id, times and hashes').waitFor()
    await dialog.getByRole('textbox').fill('They asked for it')
    expect(await dialog.getByRole('button', { name: 'Erase for good' }).isDisabled()).toBe(true)
    await dialog.getByRole('checkbox').check()
    await dialog.getByRole('button', { name: 'Erase for good' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'it is held' }).waitFor()
    await dialog.getByRole('button', { name: 'Keep it' }).click()
    expect((await mark(run)).erasure).toBeUndefined()

    await press('Hold…')
    await dialog.getByText('An audit').waitFor()
    await dialog.getByRole('textbox').fill('It is over')
    await dialog.getByRole('button', { name: 'Lift the hold' }).click()
    await dialog.waitFor({ state: 'detached' })
    await press('Erase…')
    await dialog.getByRole('textbox').fill('They asked for it')
    await dialog.getByRole('checkbox').check()
    await dialog.getByRole('button', { name: 'Erase for good' }).click()
    await dialog.getByText('It goes on by itself').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
    await expect.poll(async () => (await mark(run)).erasure?.step, { timeout: 60_000 }).toBe('erased')
    // The refusal of what was held is told by the browser, too.
    expect(wrong.filter((line) => !line.includes('409'))).toEqual([])
    await page.close()
  })
})
