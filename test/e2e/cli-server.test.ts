import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonLines, type Started, sluice, startSluice } from './run-cli.ts'

/** Two people-decided branches, then a join. */
const TWO_APPROVALS = `
name: two-approvals
blocks:
  - id: left
    mode: deterministic
    deterministic: { handler: transform, config: { expression: '"L" & inputs.word' } }
    inputs: { word: { type: string } }
    outputs: { text: { type: string } }
    approval: { required: true, prompt: "Take the left one?", show: [word] }
  - id: right
    mode: deterministic
    deterministic: { handler: transform, config: { expression: '"R"' } }
    outputs: { text: { type: string } }
    approval: { required: true, prompt: "Take the right one?" }
  - id: both
    mode: deterministic
    inputs: { a: { from: left.text }, b: { from: right.text } }
    outputs: { all: { type: string } }
    deterministic: { handler: transform, config: { expression: 'inputs.a & inputs.b' } }
`

const NOTE = `
blocks:
  - id: write
    mode: deterministic
    inputs: { body: { type: string } }
    outputs: { file: { type: artifact } }
    deterministic: { handler: write-artifact, config: { name: out/note.md } }
`

let folder = ''
let place: Started
let url: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
  writeFileSync(join(folder, 'two.yaml'), TWO_APPROVALS)
  place = await startSluice(['start', '--port', '0', '--json'], folder)
  url = String(place.first.url)
})
afterAll(async () => {
  await place.stop('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

const cli = (...args: string[]) => sluice([...args, '--url', url], { cwd: folder })

async function startTwo(): Promise<string> {
  const { code, out } = await cli('run', 'start', 'two.yaml', '--input', 'word=\u001b[31mred', '--json')
  expect(code).toBe(0)
  const { run_id } = JSON.parse(out)
  await expect.poll(() => pendingOf(run_id), { timeout: 20_000, interval: 200 }).toEqual(['left', 'right'])
  return run_id
}

async function pendingOf(runId: string): Promise<string[]> {
  const response = await fetch(`${url}/api/dag/runs/${runId}`)
  const { approvals } = (await response.json()) as { approvals: { block_id: string; status: string }[] }
  return approvals
    .filter(({ status }) => status === 'pending')
    .map((one) => one.block_id)
    .sort()
}

describe('runs on a server', () => {
  test('an example is started, watched to its end, listed and told', async () => {
    const watched = await cli('run', 'start', '--example', 'basic', '--input', 'goal=A parser', '--watch')
    expect(watched).toMatchObject({ code: 0, err: '' })
    expect(watched.out).toMatch(
      /run of basic started[\s\S]*plan: completed[\s\S]*implement: completed[\s\S]*run completed/,
    )
    const runId = /^Run (run_\w{26}) at http:/m.exec(watched.out)?.[1] ?? ''
    expect(watched.out).toMatch(/^--- implement\.patch\n1\. Implement this plan:/m)
    const list = await cli('run', 'list')
    expect(list.out).toMatch(new RegExp(`^${runId} {2}completed {2}\\S+Z {2}basic {2}\\d.* s$`, 'm'))
    const status = await cli('status', runId, '--timeline', '--gates')
    expect(status.out).toMatch(/basic {2}completed {2}2\/2 blocks[\s\S]*✓ plan[\s\S]*━/)
    const events = jsonLines((await cli('run', 'events', runId, '--json')).out)
    expect(jsonLines((await cli('run', 'watch', runId, '--json')).out)).toEqual(events)
    const since = jsonLines((await cli('run', 'events', runId, '--json', '--since', '2')).out)
    expect(since).toEqual(events.slice(2))
  })

  test('outputs are printed whole: of a block, of the blocks nobody waits for, as JSON', async () => {
    const { out } = await cli('run', 'start', '--example', 'basic', '--input', 'goal=A parser', '--json', '--watch')
    const { run_id } = JSON.parse(out).run
    const sinks = await cli('run', 'output', run_id)
    expect(sinks).toMatchObject({ code: 0, err: '' })
    expect(sinks.out).toMatch(/^--- implement\.patch\n1\. Implement/)
    expect((await cli('output', run_id, 'plan')).out).toMatch(/^--- plan\.plan\n.*A parser/)
    expect(JSON.parse((await cli('run', 'output', run_id, 'plan', '--json')).out)).toMatchObject({
      block_id: 'plan',
      outputs: { plan: expect.stringContaining('A parser') },
    })
    const wrong = await cli('run', 'output', run_id, 'plam')
    expect(wrong).toMatchObject({ code: 1, out: '' })
    expect(wrong.err).toMatch(/Did you mean "plan"\?/)
  })

  test('an artifact is listed with the command that prints it, and written where it is wanted', async () => {
    writeFileSync(join(folder, 'note file.yaml'), NOTE)
    const watched = await cli('run', 'start', 'note file.yaml', '--input', 'body=hello', '--watch')
    const listed = /^Artifact out\/note\.md \(.*\): sluice (run artifact \S+ \S+)$/m.exec(watched.out)?.[1] ?? ''
    expect(watched.out).toMatch(/run of note-file started/)
    expect((await cli(...listed.split(' '))).out).toBe('hello')
    expect(await cli(...listed.split(' '), '-o', 'copy.md')).toMatchObject({
      code: 0,
      out: 'Wrote copy.md (5 bytes).\n',
    })
    expect(readFileSync(join(folder, 'copy.md'), 'utf8')).toBe('hello')
    expect(await cli(...listed.split(' '), '-o', 'no/such/folder')).toMatchObject({ code: 2, out: '' })
  })

  test('several pending approvals are listed with exit code 2, then decided by name, each once', async () => {
    const runId = await startTwo()
    const unnamed = await cli('run', 'approve', '--yes', runId)
    expect(unnamed).toMatchObject({ code: 2, out: '' })
    expect(unnamed.err).toMatch(/--block left, or --approval apr_/)
    expect(unnamed.err).toMatch(/--block right, or --approval apr_/)
    const left = await cli('run', 'approve', '--yes', runId, '--block', 'left')
    expect(left.code).toBe(0)
    expect(left.out).toMatch(/Take the left one\?[\s\S]*--- word\n {2}red\n/)
    const right = await cli('approve', runId, '--json', '--yes')
    expect(JSON.parse(right.out)).toMatchObject({
      approval: { status: 'approved', via: 'local', declared: { client: 'cli', yes: true } },
    })
    expect(await cli('run', 'watch', runId)).toMatchObject({ code: 0, err: '' })
    const again = await cli('run', 'approve', '--yes', runId, '--block', 'left')
    expect(again.code).toBe(1)
    expect(again.err).toMatch(/Block left was approved by user:\S+ at \d{4}/)
  })

  test('a rejected run fails with the reason, and its watcher says so with exit code 1', async () => {
    const runId = await startTwo()
    expect((await cli('run', 'reject', '--yes', runId, '--block', 'left', '--feedback', 'not this')).code).toBe(0)
    expect((await cli('run', 'approve', '--yes', runId)).code).toBe(0)
    expect((await cli('run', 'status', runId)).out).toMatch(/^Block left was rejected by user:\S+: not this$/m)
    expect((await cli('run', 'events', runId)).out).toMatch(/left: rejected by user:\S+ .*: not this$/m)
    const watched = await cli('run', 'watch', runId)
    expect(watched.code).toBe(1)
    expect(watched.out).toMatch(/Run run_\w+ failed in/)
  })

  test('a run is stopped once; stop-all stops the others', async () => {
    const runId = await startTwo()
    expect(await cli('run', 'stop', runId, '--reason', 'changed my mind')).toMatchObject({
      code: 0,
      out: 'Cancelled 1 run.\n',
    })
    const again = await cli('stop', runId)
    expect(again.code).toBe(1)
    expect(again.err).toMatch(/already cancelled/)
    await startTwo()
    expect(JSON.parse((await cli('run', 'stop-all', '--json')).out)).toMatchObject({ stopped: 1 })
    expect((await cli('run', 'stop-all')).out).toBe('Cancelled 0 runs.\n')
  })

  test('stop-all --hold refuses starts, saying since when and by whom, until run release', async () => {
    const held = await cli('run', 'stop-all', '--hold', '--reason', 'wrong model')
    expect(held.out).toMatch(/^Cancelled \d+ runs?\.\nStarts are on hold\. `run release` allows them again\.\n$/)
    const refused = await cli('run', 'start', 'two.yaml', '--input', 'word=w')
    expect(refused.code).toBe(1)
    expect(refused.err).toMatch(/on hold since \S+, by user:\S+: wrong model.*\[starts_on_hold\]/s)
    expect((await cli('run', 'release')).out).toBe('Starts are allowed again.\n')
    expect((await cli('release')).out).toBe('Starts were not on hold.\n')
    await startTwo()
    expect(JSON.parse((await cli('run', 'stop-all', '--json')).out)).toMatchObject({ stopped: 1 })
  })

  test('--yes approves by itself, recorded as such', async () => {
    const { code, out } = await cli('run', 'start', 'two.yaml', '--input', 'word=w', '--yes')
    expect(code).toBe(0)
    expect(out.match(/approved by user:\S+ via local \(declared: cli --yes\)/g)).toHaveLength(2)
  })

  test.each([
    ['an unknown run', ['run', 'status', 'run_00000000000000000000000000'], /unknown_run/],
    ['no run id at all', ['run', 'status', '../../health'], /run id/],
    ['an unknown document', ['run', 'start', 'nope'], /nope/],
    ['a missing input', ['run', 'start', 'two.yaml'], /word/],
    ['a bad document', ['run', 'start', 'bad.yaml'], /blocks\[0\]/],
  ])('%s is refused with exit code 1 and the reason', async (_, args, words) => {
    writeFileSync(join(folder, 'bad.yaml'), 'blocks:\n  - id: a\n')
    const { code, out, err } = await cli(...args)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(words)
  })

  test('a taken port and a folder in use are refused by name', async () => {
    const port = new URL(url).port
    const taken = await sluice(['start', '--port', port, '--data-dir', 'other'], { cwd: folder })
    expect(taken).toMatchObject({ code: 1, out: '' })
    expect(taken.err).toMatch(new RegExp(`port ${port}`))
    const inUse = await sluice(['start', '--port', '0'], { cwd: folder })
    expect(inUse).toMatchObject({ code: 1, out: '' })
    expect(inUse.err).toMatch(new RegExp(`process ${place.first.pid}`))
  })
})

describe('runs without a server', () => {
  test('run start runs the place itself and leaves artifacts and data on disk', { tags: ['thorough'] }, async ({
    skip,
  }) => {
    const cwd = mkdtempSync(join(folder, 'inside-'))
    writeFileSync(join(cwd, 'note.yaml'), NOTE)
    // A target that was named is never replaced.
    const named = await sluice(['run', 'start', 'note.yaml', '--url', 'http://127.0.0.1:9'], { cwd })
    expect(named).toMatchObject({ code: 1, out: '' })
    if (await answersOnDefaultPort()) skip('a server of this machine answers on port 4040')
    writeFileSync(join(cwd, 'bad.yaml'), 'blocks:\n  - id: a\n')
    expect(await sluice(['run', 'start', 'bad.yaml'], { cwd })).toMatchObject({ code: 1, out: '' })
    expect(existsSync(join(cwd, '.sluice'))).toBe(false)
    const { code, out, err } = await sluice(['run', 'start', 'note.yaml', '--input', 'body=hello'], { cwd })
    expect(code).toBe(0)
    expect(err).toBe('')
    expect(out).toMatch(/^Run run_\w+ at http:\S+, in this process; its data is kept in \/.*\.sluice$/m)
    const path = /Artifact out\/note\.md: (.*)$/m.exec(out)?.[1] ?? ''
    expect(readFileSync(path, 'utf8')).toContain('hello')
  })

  test('kill -9 of the place loses nothing: the run goes on where it was, no completed block again', {
    tags: ['thorough'],
  }, async () => {
    const cwd = mkdtempSync(join(folder, 'killed-'))
    writeFileSync(join(cwd, 'two.yaml'), TWO_APPROVALS)
    const first = await startSluice(['start', '--port', '0', '--json'], cwd)
    const there = ['--url', String(first.first.url)]
    const started = await sluice(['run', 'start', 'two.yaml', '--input', 'word=w', '--json', ...there], { cwd })
    const { run_id } = JSON.parse(started.out)
    await expect
      .poll(async () => (await sluice(['approve', '--yes', run_id, '--block', 'left', ...there], { cwd })).code, {
        timeout: 30_000,
      })
      .toBe(0)
    process.kill(Number(first.first.pid), 'SIGKILL')
    expect(await first.ended).toBe(1)
    const second = await startSluice(['start', '--port', '0', '--json'], cwd)
    const here = ['--url', String(second.first.url)]
    expect((await sluice(['approve', '--yes', run_id, ...here], { cwd })).code).toBe(0)
    expect((await sluice(['watch', run_id, ...here], { cwd })).code).toBe(0)
    const { out } = await sluice(['events', run_id, '--json', ...here], { cwd })
    const events = jsonLines(out) as readonly { type: string; block_id?: string }[]
    for (const type of ['block:completed', 'approval:decided', 'run:completed']) {
      const blocks = events.filter((event) => event.type === type).map(({ block_id }) => block_id)
      expect(new Set(blocks).size).toBe(blocks.length)
    }
    expect(await second.stop('SIGINT')).toBe(0)
  })
})

async function answersOnDefaultPort(): Promise<boolean> {
  return await fetch('http://127.0.0.1:4040/api/health').then(
    () => true,
    () => false,
  )
}
