import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { GALLERY } from '../../scripts/gallery/gallery-entries.ts'
import { runEntry } from '../../scripts/gallery/run-entry.ts'
import { findBrowser, openBrowser, openPage } from './browser.ts'
import { startSluice } from './run-cli.ts'

/**
 * `npm run docs:screenshots`: every shipped document is run, and the console photographed on what its run left: the graph
 * of each, and every view once. Writes docs/screenshots/.
 */
const out = resolve(import.meta.dirname, '../../docs/screenshots')
const SIZE = { width: 1_280, height: 800 }

interface Shot {
  readonly name: string
  /** Behind the `#`; RUN is the newest run of that document. */
  readonly path: string
  readonly theme?: 'light'
  readonly width?: number
  readonly keys?: readonly string[]
}

/** Besides the graph of each. */
const VIEWS: Readonly<Record<string, readonly Shot[]>> = {
  coding: [
    { name: 'runs', path: '/runs' },
    { name: 'inspector', path: '/runs/RUN/graph?block=review' },
    { name: 'timeline', path: '/runs/RUN/timeline' },
    { name: 'events', path: '/runs/RUN/events' },
    { name: 'replay', path: '/runs/RUN/graph?seq=14' },
    { name: 'outputs', path: '/runs/RUN/artifacts' },
    { name: 'compare', path: '/compare/RUN/RUN' },
    { name: 'start', path: '/start?name=coding', theme: 'light' },
    { name: 'safety', path: '/safety', theme: 'light' },
    { name: 'narrow', path: '/runs/RUN/graph', width: 390 },
    { name: 'shortcuts', path: '/runs', keys: ['?'] },
    { name: 'light', path: '/runs/RUN/graph', theme: 'light' },
  ],
  'dataset-brief': [{ name: 'approvals', path: '/approvals?status=decided' }],
  'churn-analysis': [{ name: 'goal', path: '/runs/RUN/goal' }],
  'country-brief': [{ name: 'research', path: '/runs/RUN/research' }],
}

async function main(): Promise<void> {
  const chromium = findBrowser()
  if (chromium === undefined) throw new Error('No Chromium is here: install one, or name it in CHROMIUM.')
  const browser = await openBrowser(chromium)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-shots-'))
  const taken = join(folder, 'taken')
  mkdirSync(taken)
  for (const entry of GALLERY) {
    const cwd = join(folder, entry.name)
    await runEntry(entry, cwd)
    await photograph(browser, entry.name, cwd, taken)
    process.stdout.write(`${entry.name}\n`)
  }
  await browser.close()
  // The old ones go when all new ones are there.
  rmSync(out, { recursive: true, force: true })
  cpSync(taken, out, { recursive: true })
  rmSync(folder, { recursive: true, force: true })
}

async function photograph(browser: Browser, name: string, cwd: string, taken: string): Promise<void> {
  const place = await startSluice(['start', '--port', '0', '--json', '--example'], cwd)
  const url = String(place.first.url)
  const { runs } = (await (await fetch(`${url}/api/dag/runs?dag=${name}&limit=1`)).json()) as {
    readonly runs: readonly { readonly run_id: string }[]
  }
  const graph = name === 'coding' ? 'run-graph' : `dag-${name}`
  const shots: readonly Shot[] = [{ name: graph, path: '/runs/RUN/graph' }, ...(VIEWS[name] ?? [])]
  for (const { name: file, path, theme, width, keys = [] } of shots) {
    const { page, wrong } = await openPage(browser, url, {
      ...SIZE,
      ...(width && { width }),
      ...(theme && { colorScheme: theme }),
    })
    await page.goto(`${url}/#${path.replaceAll('RUN', runs[0]?.run_id ?? '')}`)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await delay(1_500)
    for (const key of keys) await page.keyboard.press(key)
    await page.screenshot({ path: join(taken, `${file}.png`) })
    if (wrong.length > 0) throw new Error(`${file}: ${wrong.join('; ')}`)
    await page.close()
  }
  await place.stop('SIGTERM')
}

await main()
