import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonLines, sluice, startSluice } from './run-cli.ts'

const DEMO = resolve(import.meta.dirname, '../../scripts/demo.ts')

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The demo on a data folder of its own, from a working folder without any sluice.yaml. */
function startDemo(name: string, ...args: string[]) {
  const dataDir = join(folder, name)
  const child = spawn(process.execPath, [DEMO, '--data-dir', dataDir, ...args], { cwd: folder, stdio: 'pipe' })
  const printed = { out: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.out += text
  })
  return { child, printed, dataDir, ended: once(child, 'close').then(([code]) => code as number | null) }
}

describe('npm run demo', () => {
  test('makes the brief, and shows the gate that failed first', { tags: ['thorough'] }, async () => {
    const { ended, printed } = startDemo('all')
    const code = await ended
    expect(printed.out).not.toMatch(/^error:/m)
    expect(code).toBe(0)
    expect(printed.out).toMatch(/✗ draft \(attempt 1\) \S+ failed: /)
    expect(printed.out).toMatch(/✓ draft \(attempt 2\) /)
    expect(printed.out).toMatch(/declared: cli --yes/)
    expect(printed.out).toMatch(/Timeline\n {2}load .*━/)
    const path = /Artifact dataset-brief\.md: (.*)\n$/.exec(printed.out)?.[1] ?? ''
    const brief = readFileSync(resolve(folder, path), 'utf8')
    expect(brief).toMatch(/^# /)
    expect(brief).toMatch(/95 % CI/)
    expect(brief).toMatch(/ODbL-1\.0/)
  })

  test('--wait stops for a person; kill -9 there loses nothing, and no completed block runs again', {
    tags: ['thorough'],
  }, async () => {
    const { child, ended, printed, dataDir } = startDemo('wait', '--wait', '--port', '0')
    await expect.poll(() => printed.out, { timeout: 60_000 }).toMatch(/npm run -s sluice -- start --data-dir/)
    expect(printed.out).toMatch(/npm run -s sluice -- run approve run_\w{26}/)
    expect(printed.out).toMatch(/npm run -s sluice -- run reject run_\w{26}.* --feedback/)
    const runId = /run approve (run_\w{26})/.exec(printed.out)?.[1] ?? ''
    child.kill('SIGKILL')
    await ended
    // The place ends with the demo; for that moment it may still hold the folder.
    const place = await startWhenFree(dataDir)
    const here = ['--url', String(place.first.url)]
    const before = jsonLines((await sluice(['events', runId, '--json', ...here])).out)
    expect((await sluice(['approve', '--yes', runId, ...here])).code).toBe(0)
    expect((await sluice(['watch', runId, ...here])).code).toBe(0)
    const after = jsonLines((await sluice(['events', runId, '--json', ...here])).out)
    expect(after.slice(0, before.length)).toEqual(before)
    const started = after.slice(before.length).filter((event) => (event as { type: string }).type === 'block:started')
    expect(started).toMatchObject([{ block_id: 'publish' }])
    expect(await place.stop('SIGTERM')).toBe(0)
  })

  test('--wait ends with exit code 1 when the person rejects', { tags: ['thorough'] }, async () => {
    const { ended, printed } = startDemo('reject', '--wait', '--port', '0')
    await expect.poll(() => printed.out, { timeout: 60_000 }).toMatch(/run reject run_\w{26}/)
    const line = /npm run -s sluice -- (run reject .*)$/m.exec(printed.out)?.[1] ?? ''
    const args = line.replace(' --feedback "why"', '').split(' ')
    expect((await sluice([...args, '--yes', '--feedback', 'too long'])).code).toBe(0)
    expect(await ended).toBe(1)
    expect(printed.out).toMatch(/publish: rejected by /)
  })
})

async function startWhenFree(dataDir: string) {
  for (let left = 20; ; left -= 1) {
    const tried = await startSluice(['start', '--port', '0', '--json', '--data-dir', dataDir], folder).catch(
      () => undefined,
    )
    if (tried !== undefined) return tried
    if (left === 0) throw new Error(`nobody lets go of ${dataDir}`)
  }
}
