import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Done, jsonLines, type Started, sluice, startSluice } from './run-cli.ts'

/** People at a command line: the inbox, decisions of several at once, edits, waivers, and the record of it all. */
let folder = ''
let place: Started
const run = (...args: string[]): Promise<Done> => sluice([...args, '--url', String(place.first.url)], { cwd: folder })

const DOCUMENTS = {
  note: `
inputs: { text: string }
blocks:
  - id: publish
    mode: deterministic
    inputs: { text: { type: string, required: true } }
    outputs: { text: string }
    deterministic: { handler: pass }
    approval: { prompt: "Publish this?", edit: [text] }
`,
  others: `
blocks:
  - id: publish
    mode: deterministic
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: '"x"' } }
    approval: { prompt: "Publish this?", approvers: ["user:somebody-else"] }
`,
  again: `
blocks:
  - id: draft
    mode: deterministic
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: '"x"' } }
    approval: { prompt: "Good?", on_reject: iterate }
`,
  gated: `
blocks:
  - id: draft
    mode: deterministic
    outputs: { text: string }
    deterministic: { handler: transform, config: { expression: '"short"' } }
    post_gates:
      - { name: long-enough, check: { type: min_length, port: text, min: 100 }, on_fail: ask }
`,
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-approvals-'))
  for (const [name, text] of Object.entries(DOCUMENTS)) writeFileSync(join(folder, `${name}.yaml`), text)
  place = await startSluice(['start', '--port', '0', '--json'], folder)
})
afterAll(async () => {
  await place.stop('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

interface Entry {
  readonly approval_id: string
  readonly run_id: string
  readonly status: string
}

interface Told {
  readonly approvals: readonly Entry[]
  readonly run: { readonly state: string; readonly next_run: string }
}

async function get(path: string): Promise<Told> {
  return (await fetch(`${String(place.first.url)}${path}`)).json() as Promise<Told>
}

async function inbox(status = 'pending'): Promise<readonly Entry[]> {
  return (await get(`/api/dag/approvals?status=${status}&limit=100`)).approvals
}

/** What `find` finds, asked for again and again. */
async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 300; tries += 1) {
    const found = await find()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('it does not come')
}

/** Starts a run and waits until it asks. */
async function asking(name: keyof typeof DOCUMENTS, ...more: string[]): Promise<Entry> {
  const started = await run('run', 'start', `${name}.yaml`, '--json', ...more)
  const { run_id } = JSON.parse(started.out)
  return until(async () => (await inbox()).find((one) => one.run_id === run_id))
}

function ended(run_id: string): Promise<string> {
  return until(async () => {
    const { state } = (await get(`/api/dag/runs/${run_id}`)).run
    return state === 'running' || state === 'paused_approval' ? undefined : state
  })
}

describe('sluice approvals', () => {
  test('lists what is asked, a line each, and shows one with values, risk and how to decide', async () => {
    expect((await run('approvals', 'list')).out).toBe('Nobody is asked anything.\n')
    const { approval_id, run_id } = await asking('note', '--input', 'text=hel\u001b[2Jlo\u202e')
    const listed = await run('approvals', 'list')
    expect(listed.out).toMatch(
      new RegExp(`^${approval_id}  low risk +[\\d.]+ s  note/publish \\(not as deployed\\)  Publish this\\?\n$`),
    )
    const { code, out } = await run('approvals', 'show', approval_id)
    expect(code).toBe(0)
    expect(out).toContain(`Approval ${approval_id} of run ${run_id} (note): pending\n`)
    expect(out).toContain('Risk low: who approves may change text; 1 block to run after a yes.\n')
    expect(out).toContain('May be changed with `run approve --edit`: text.\n')
    expect(out).toContain('--- text\n  hello\n---\n')
    expect(out).toMatch(/Decide: \S.* approvals approve apr_\w+$/m)
    await run('approvals', 'reject', '--yes', approval_id)
    expect(await ended(run_id)).toBe('failed')
  })

  test('decides several one by one: what fails hides no other and makes the exit code 1', async () => {
    const [one, other, two] = [
      await asking('note', '--input', 'text=a'),
      await asking('others'),
      await asking('note', '--input', 'text=b'),
    ]
    const unknown = `apr_${'0'.repeat(26)}_0_0`
    const ids = [one.approval_id, other.approval_id, unknown, 'nonsense', two.approval_id]
    const { code, out, err } = await run('approvals', 'approve', '--yes', ...ids, '--feedback', 'fine')
    expect(code).toBe(1)
    expect(out).toContain(`${one.approval_id}: Approved block publish of ${one.run_id}.\n`)
    expect(out).toContain(`${two.approval_id}: Approved block publish of ${two.run_id}.\n`)
    expect(err).toContain(`${other.approval_id}: NOT decided [not_an_approver]`)
    expect(err).toContain(`${unknown}: NOT decided [unknown_approval]`)
    expect(err).toContain('nonsense: NOT decided [unknown_approval]')
    expect([await ended(one.run_id), await ended(two.run_id)]).toEqual(['completed', 'completed'])
    const again = await run('approvals', 'reject', '--yes', one.approval_id, two.approval_id, '--json')
    expect(again.code).toBe(1)
    expect(JSON.parse(again.out).results).toMatchObject([
      { approval_id: one.approval_id, decided: false, code: 'already_decided' },
      { approval_id: two.approval_id, decided: false, code: 'already_decided' },
    ])
    await run('run', 'stop', other.run_id)
    const closed = await inbox('decided')
    expect(closed.slice(0, 3).map(({ status }) => status)).toEqual(['cancelled', 'approved', 'approved'])
  })

  test('wants ids, and a known status: exit code 2', async () => {
    for (const args of [
      ['approve'],
      ['list', '--status', 'lost'],
      ['list', '--limit', '0'],
      ['export', '--since', 'soon'],
    ]) {
      expect((await run('approvals', ...args)).code).toBe(2)
    }
  })
})

describe('sluice run approve, waive and reject', () => {
  test('an approver changes an input that may be changed, and nothing else', async () => {
    const { run_id } = await asking('note', '--input', 'text=before')
    const wrong = await run('run', 'approve', '--yes', run_id, '--edit', 'other=x')
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('other')])
    expect((await run('run', 'approve', '--yes', run_id, '--edit', 'text')).code).toBe(2)
    const { code, out } = await run('run', 'approve', '--yes', run_id, '--edit', 'text=after')
    expect([code, out]).toEqual([0, expect.stringContaining(`Approved block publish of ${run_id}.`)])
    expect(await ended(run_id)).toBe('completed')
    expect((await run('run', 'output', run_id)).out).toContain('after')
    expect((await run('run', 'status', run_id)).out).toContain('with changed inputs {"text":"after"}')
  })

  test('a waiver of failed gates has its own command and needs a reason', async () => {
    const { run_id, approval_id } = await asking('gated')
    expect((await run('run', 'status', run_id)).out).toContain('waits for a waiver of failed gates until')
    const approved = await run('run', 'approve', '--yes', run_id)
    expect([approved.code, approved.err]).toEqual([1, expect.stringContaining('[waive_expected]')])
    expect(approved.out).toMatch(/^Failed gate long-enough: /m)
    expect((await run('approvals', 'approve', '--yes', approval_id)).err).toContain('[waive_expected]')
    expect((await run('run', 'waive', '--yes', run_id)).code).toBe(2)
    const { code, out } = await run('run', 'waive', '--yes', run_id, '--feedback', 'it is a title')
    expect([code, out]).toEqual([0, expect.stringContaining(`Waived the failed gates of block draft of ${run_id}.`)])
    expect(await ended(run_id)).toBe('completed')
    expect((await run('run', 'status', run_id)).out).toMatch(/Block draft was waived by \S+: it is a title/)
  })

  test('--yes waives nothing: it says how a person does', async () => {
    const watched = run('run', 'start', 'gated.yaml', '--yes')
    const { run_id } = await until(async () => (await inbox())[0])
    await run('run', 'waive', '--yes', run_id, '--feedback', 'it is a title')
    const { code, out, err } = await watched
    expect([code, out + err]).toEqual([0, expect.stringMatching(/Gates of block draft failed, .* run waive run_\w+ /)])
    expect(out + err).not.toContain('because of --yes')
  })

  test('a rejection may make another run go on in place of this one', async () => {
    const { run_id } = await asking('again')
    const { code } = await run(
      'run',
      'reject',
      '--yes',
      run_id,
      '--feedback',
      'shorter',
      '--restart-mode',
      'from_scratch',
    )
    expect(code).toBe(0)
    expect(await ended(run_id)).toBe('iterated')
    const { run: told } = await get(`/api/dag/runs/${run_id}`)
    await until(async () => (await inbox()).find((one) => one.run_id === told.next_run))
    await run('run', 'reject', '--yes', told.next_run, '--no-iterate', '--feedback', 'enough')
    expect(await ended(told.next_run)).toBe('failed')
  })
})

describe('the record of decisions', () => {
  const exported = (...args: string[]) => run('approvals', 'export', ...args)

  test('has every decision of every run as a JSON line, or those of one run, or since a time', async () => {
    const all = jsonLines((await exported()).out) as readonly { run_id: string; kind: string; at: string }[]
    const runs = new Set([...(await inbox('all'))].map(({ run_id }) => run_id))
    expect(new Set(all.map(({ run_id }) => run_id))).toEqual(runs)
    expect(all.filter(({ kind }) => kind === 'requested')).toHaveLength((await inbox('all')).length)
    const waived = all.find(({ kind }) => kind === 'waived')
    expect(waived).toMatchObject({ gate: 'long-enough', about: 'post_gates' })
    const own = jsonLines((await exported('--run', waived?.run_id ?? '')).out)
    expect(own).toMatchObject([
      { kind: 'requested', prompt: expect.any(String), gates: [{ name: 'long-enough' }], digest: expect.any(String) },
      {
        kind: 'decided',
        decision: 'waive',
        who: { kind: 'user', id: expect.any(String) },
        source: 'local',
        declared: { client: 'cli', yes: true },
        why: 'it is a title',
        have: 1,
        need: 1,
        policy: 'anyone_allowed',
        policy_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      { kind: 'waived' },
    ])
    const last =
      all
        .map(({ at }) => at)
        .sort()
        .at(-1) ?? ''
    expect(jsonLines((await exported('--since', last)).out)).toMatchObject([{ at: last }])
    expect((await exported('--since', '2099-01-01')).out).toBe('')
  })

  test('is part of run export, fits the event chain, and one changed byte shows, there or in the store', {
    tags: ['thorough'],
  }, async () => {
    const { approval_id, run_id: runId } = await asking('note', '--input', 'text=a')
    await run('approvals', 'approve', '--yes', approval_id)
    expect(await ended(runId)).toBe('completed')
    const record = join(folder, 'record.ndjson')
    writeFileSync(record, (await exported('--run', runId)).out)
    const whole = JSON.parse((await run('run', 'export', runId)).out)
    expect(whole.audit).toEqual(jsonLines(readFileSync(record, 'utf8')))
    const check = (...more: string[]) => run('run', 'verify', runId, ...more)
    const good = await check('--audit', record)
    expect([good.code, good.out]).toEqual([0, expect.stringMatching(/^ok {11}record of decisions, computed here$/m)])
    const forged = join(folder, 'forged.ndjson')
    writeFileSync(forged, readFileSync(record, 'utf8').replace('"source":"local"', '"source":"lokal"'))
    const bad = await check('--audit', forged)
    expect(bad.code).toBe(100)
    expect(bad.out).toMatch(
      /^FAILED {7}record of decisions, computed here\n +- line \d+ \(event \d+\) differs in source$/m,
    )
    await changeByte(runId)
    const changed = await check('--audit', record)
    expect(changed.code).toBe(100)
    expect(changed.out).toMatch(/^FAILED {7}hash chain of the replay, computed here$/m)
    expect(changed.out).toMatch(/differs in hash, .*source/)
  })

  async function changeByte(runId: string): Promise<void> {
    await place.stop('SIGTERM')
    const db = new DatabaseSync(join(folder, '.sluice', 'sluice.db'))
    const { changes } = db
      .prepare(
        `UPDATE events SET body = replace(body, '"via":"local"', '"via":"lokal"')
         WHERE body LIKE '%approval:decided%' AND id / 16777216 = (SELECT run FROM runs WHERE run_id = ?)`,
      )
      .run(runId)
    db.close()
    expect(changes).toBe(1)
    place = await startSluice(['start', '--port', '0', '--json'], folder)
  }
})
