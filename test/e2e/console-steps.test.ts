import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestPlace, type TestPlace } from '../integration/test-place.ts'
import { axeProblems, findBrowser, openBrowser, openPage } from './browser.ts'

const chromium = findBrowser()
const project = mkdtempSync(join(tmpdir(), 'sluice-console-steps-'))
let place: TestPlace
let browser: Browser

const STEP = `
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({
  inputs: z.object({ text: z.string() }),
  outputs: z.object({ words: z.number() }),
  async run({ inputs, log, progress }) {
    progress(0.4, 'row 400 of 1000')
    while (!existsSync(${JSON.stringify(join(project, 'go'))})) await wait(20)
    for (let line = 1; line <= 10; line += 1) log.info('line ' + line)
    throw new Error('there is no row 401')
  },
})
`

describe.skipIf(chromium === undefined)('the panel of a block that runs a step', () => {
  beforeAll(async () => {
    execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/install-if-needed.mjs', import.meta.url))])
    mkdirSync(join(project, 'steps'))
    writeFileSync(join(project, 'steps/work.ts'), STEP)
    place = await openTestPlace({ listen: true }, { port: 0, project_dir: project })
    browser = await openBrowser(chromium ?? '')
  })
  afterAll(async () => {
    await browser?.close()
    await place?.close()
    rmSync(project, { recursive: true, force: true })
  })

  test('shows how far it is while it works, then the end of its log and a link to the whole', {
    tags: ['thorough'],
  }, async () => {
    const handler = './steps/work.ts'
    const work = { id: 'work', mode: 'deterministic', inputs: { text: 'string' }, deterministic: { handler } }
    const runId = await place.start({ name: 'steps', blocks: [work] }, { inputs: { text: 'any' } })
    const url = place.place.url ?? ''
    const { page } = await openPage(browser, url)
    await page.goto(`${url}/#/runs/${runId}/graph?block=work`)
    await page.getByText('row 400 of 1000').last().waitFor()
    expect(await page.getByRole('progressbar').getAttribute('value')).toBe('0.4')
    expect(await page.getByText('module: ./steps/work.ts').count()).toBe(1)
    writeFileSync(join(project, 'go'), '')
    await page.locator('.step-log').waitFor()
    const tail = await page.locator('.step-log').textContent()
    expect(tail).toContain('line 10\nerror: Error: there is no row 401')
    expect(tail).not.toContain('line 1\n')
    expect(await page.getByRole('progressbar').count()).toBe(0)
    const link = await page.getByRole('link', { name: 'Whole log' }).getAttribute('href')
    expect(await (await page.request.get(`${url}${link}`)).text()).toMatch(/^line 1\nline 2\n/)
    expect(await axeProblems(page)).toEqual([])
  })
})
