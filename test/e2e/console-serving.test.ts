import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CONSOLE_LIMIT_BYTES, consoleSize } from '../../scripts/console-size.ts'
import { type Started, sluice, startSluice } from './run-cli.ts'

/** The console as it is built, behind the server as it is started. */
const ROOT = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'sluice-console-'))
let server: Started
let url: string

beforeAll(async () => {
  execFileSync(process.execPath, [join(ROOT, 'scripts/install-if-needed.mjs')], { stdio: 'ignore' })
  server = await startSluice(['start', '--port', '0', '--json'], folder)
  url = String(server.first.url)
})

afterAll(async () => {
  await server.stop('SIGTERM')
  rmSync(folder, { recursive: true })
})

describe('the built console', () => {
  test('is at most 300 KB gzipped, all files together', () => {
    const { gzip_bytes, files } = consoleSize(join(ROOT, 'dist/console'))
    process.stdout.write(`console: ${(gzip_bytes / 1_000).toFixed(1)} KB gzipped in ${files.length} files\n`)
    expect(gzip_bytes).toBeGreaterThan(10_000)
    expect(gzip_bytes).toBeLessThanOrEqual(CONSOLE_LIMIT_BYTES)
  })

  test('is served whole: every address its page names is there, and none is on another server', async () => {
    const page = await fetch(`${url}/dag`)
    const html = await page.text()
    const named = [...html.matchAll(/\b(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
    const ours = named.filter((address) => !address.startsWith('data:'))
    expect(ours.length).toBeGreaterThanOrEqual(2)
    for (const address of ours) {
      expect(address).toMatch(/^\/assets\//)
      const file = await fetch(new URL(address, url))
      expect([address, file.status, file.headers.get('cache-control')]).toEqual([
        address,
        200,
        'public, max-age=31536000, immutable',
      ])
    }
    // What the policy forbids would be there in vain: scripts and styles in the page itself, handlers in attributes.
    expect(html.replace(/<script type="module"[^>]*src=[^>]*><\/script>/g, '')).not.toMatch(
      /<script|<style|\son\w+=|style=/,
    )
  })
})

describe('sluice console', () => {
  test('prints the address of the server that is there', async () => {
    const done = await sluice(['console', '--url', url])
    expect(done).toEqual({ code: 0, out: `Console: ${url}/\n`, err: '' })
    const json = await sluice(['console', '--url', url, '--json'])
    expect(JSON.parse(json.out)).toEqual({ url: `${url}/` })
  })
})

describe('sluice run start --watch', () => {
  test('says where the run can be seen, in a page that is there as long as the server', async () => {
    const args = ['run', 'start', '--example', 'basic', '--input', 'goal=Ship it', '--yes', '--url', url]
    const done = await sluice(args)
    expect(done.code).toBe(0)
    const [, id = ''] = /^Run (run_\w+)/m.exec(done.out) ?? []
    expect(done.out).toContain(`${url}/#/runs/${id}`)
  })
})
