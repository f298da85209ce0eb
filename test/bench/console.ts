import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Browser } from 'playwright-core'
import { consoleSize } from '../../scripts/console-size.ts'
import { findBrowser, openBrowser } from '../e2e/browser.ts'
import { sluice, startSluice } from '../e2e/run-cli.ts'

/**
 * `npm run bench:console`: what a first look at the console costs, in a Chromium without cache: bytes, first paint, when the
 * view can be read, and how long the page could not answer (long tasks above 50 ms). Median of seven. Times are of this
 * machine now.
 */
const ROUNDS = 7
/** Two foreach blocks of 1,000 items: some 10,000 events. */
const MANY = `
name: many
inputs: { list: { type: json, default: [${Array.from({ length: 1_000 }, (_, i) => i).join(', ')}] } }
blocks:
${['one', 'two']
  .map(
    (id) => `  - id: ${id}
    mode: deterministic
    inputs: { list: json }
    foreach: { items: "{{inputs.list}}", as: item, max_concurrency: 40 }
    deterministic: { handler: transform, config: { expression: '"x"' } }
    outputs: { text: string }`,
  )
  .join('\n')}
`

interface Look {
  readonly painted: number
  readonly read: number
  readonly blocked: number
}

async function main(): Promise<void> {
  const chromium = findBrowser()
  if (chromium === undefined) throw new Error('No Chromium is here: install one, or name it in CHROMIUM.')
  const size = consoleSize(resolve(import.meta.dirname, '../../dist/console'))
  say(`Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`)
  say(`console: ${size.gzip_bytes} bytes gzipped in ${size.files.length} files, ${size.bytes} unpacked`)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-look-'))
  writeFileSync(join(folder, 'many.yaml'), MANY)
  const place = await startSluice(['start', '--port', '0', '--json', '--example'], folder)
  const url = String(place.first.url)
  const browser = await openBrowser(chromium)
  const runOf = async (...words: string[]) =>
    JSON.parse((await sluice(['run', 'start', ...words, '--json', '--url', url], { cwd: folder })).out).run_id as string
  const small = await runOf('--example', 'basic', '--input', 'goal=Look at it')
  await print(browser, 'the list of runs', `${url}/#/runs`, 'basic')
  await print(browser, 'a run of 2 blocks', `${url}/#/runs/${small}/graph`, 'all 2 blocks completed')
  if (process.argv.includes('--many')) {
    const many = await runOf('many.yaml')
    await sluice(['run', 'watch', many, '--url', url], { cwd: folder })
    await print(browser, 'a run of 10,000 events', `${url}/#/runs/${many}/events`, 'run completed')
  }
  await browser.close()
  await place.stop('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
}

async function print(browser: Browser, what: string, url: string, words: string): Promise<void> {
  const looks: Look[] = []
  for (let round = 0; round < ROUNDS; round += 1) looks.push(await look(browser, url, words))
  const ms = (of: keyof Look) => `${Math.round(median(looks.map((one) => one[of])))} ms`
  say(`${what}: first paint ${ms('painted')}, can be read ${ms('read')}, blocked ${ms('blocked')}`)
}

async function look(browser: Browser, url: string, words: string): Promise<Look> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } })
  const page = await context.newPage()
  await page.addInitScript(
    'window.long = 0; new PerformanceObserver((list) => { for (const task of list.getEntries()) window.long += task.duration - 50 }).observe({ type: "longtask", buffered: true })',
  )
  const began = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByText(words).first().waitFor()
  const read = performance.now() - began
  const painted = await page.evaluate('performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0')
  const blocked = await page.evaluate('window.long')
  await context.close()
  return { read, painted: Number(painted), blocked: Number(blocked) }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
