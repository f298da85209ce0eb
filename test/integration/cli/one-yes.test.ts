import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sluice } from '../../e2e/run-cli.ts'
import { type ApprovalPlace, openApprovalPlace } from '../approvals/approval-place.ts'

const CLI = join(import.meta.dirname, '../../../clients/cli/sluice.mjs')
let place: ApprovalPlace
let folder: string

const asking = (approval: object) => {
  const text = { text: { type: 'string' } }
  const agent = { provider: 'local', model: 'outline', prompt: 'Go' }
  return JSON.stringify({ name: 'asks', blocks: [{ id: 'deploy', outputs: text, agent, approval }] })
}

beforeAll(async () => {
  place = await openApprovalPlace({ port: 0 }, { listen: true })
  folder = mkdtempSync(join(tmpdir(), 'sluice-yes-'))
})
afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true })
})

describe('run start --yes', () => {
  test.each([
    [{ prompt: 'Deploy?', quorum: 2 }, 'block "deploy" waits for 2 people'],
    [{ prompt: 'Deploy?', self_approval: false }, 'may not be approved by who started the run'],
  ])('refuses %j at once, before anything is started', async (approval, why) => {
    const file = join(folder, 'asks.yaml')
    writeFileSync(file, asking(approval))
    for (const url of [[], ['--url', place.place.url ?? '']]) {
      const { code, err } = await sluice(['run', 'start', file, '--yes', ...url], { cwd: folder })
      expect(code).toBe(2)
      expect(err).toContain(why)
      expect(err).toContain('run approve RUN')
    }
    expect((await place.place.world.runs.list('main', { limit: 1 })).runs).toEqual([])
  })

  test('says of a document it cannot read that others must decide, votes, and goes on when they did', async () => {
    writeFileSync(join(place.folder, 'asks.yaml'), asking({ prompt: 'Deploy?', quorum: 2 }))
    const child = spawn(process.execPath, [CLI, 'run', 'start', 'asks', '--yes', '--url', place.place.url ?? ''], {
      cwd: folder,
    })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    await expect
      .poll(() => said)
      .toMatch(/one of 2 people it waits for\. 1 other must approve too: .*run approve run_\w+ --block deploy/)
    const id = /run_\w+/.exec(said)?.[0] ?? ''
    const { digest } = await place.asked(id, 'deploy')
    expect(await place.decide(id, 'user:bo', { decision: 'approve', digest })).toBe('approved')
    expect(await ended).toBe(0)
  })
})
