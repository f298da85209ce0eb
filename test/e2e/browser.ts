import { accessSync, constants, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** A Chromium of this machine: CHROMIUM names one, else where systems put it. Undefined = there is none. */
export function findBrowser(): string | undefined {
  return [process.env.CHROMIUM ?? [], PLACES].flat().find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export async function openBrowser(executablePath: string): Promise<Browser> {
  // In a container there is no user namespace for its sandbox; the pages are our own.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** A page, and what went wrong on it that nobody may see: errors of scripts, and requests to elsewhere. */
export interface Watched {
  readonly page: Page
  readonly wrong: readonly string[]
}

/** In a browser it is alone; in a context it finds what earlier pages of that have loaded. */
export async function openPage(
  where: Browser | BrowserContext,
  origin: string,
  options: { readonly colorScheme?: 'dark' | 'light'; readonly width?: number; readonly height?: number } = {},
): Promise<Watched> {
  const { colorScheme = 'dark', width = 1_280, height = 800 } = options
  const page = await where.newPage()
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(`threw ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    // A refusal that is shown to the person is no fault of the page.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) wrong.push(message.text())
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) wrong.push(`asked ${url}`)
  })
  return { page, wrong }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds against WCAG 2.1 AA and good practice, a line each. */
export async function axeProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(on: unknown, how: object): Promise<{ violations: Found[] }> }
    }
    interface Found {
      readonly id: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
    }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
    const document: unknown = Reflect.get(globalThis, 'document')
    const { violations } = await axe.run(document, { runOnly: tags })
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
  })
}
