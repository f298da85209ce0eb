import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLI_FILES } from '../../scripts/docs/cli-steps.ts'
import { type Started, sluice, startSluice } from './run-cli.ts'

/** The document docs/cli.md shows. */
const DAG = CLI_FILES['dags/churn.yaml'] ?? ''

let folder = ''
let place: Started
let url = ''

const cli = (...args: string[]) => sluice([...args, '--url', url], { cwd: folder })
const newest = async () => JSON.parse((await cli('run', 'list', '--json')).out).runs[0].run_id as string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-pivot-'))
  writeFileSync(join(folder, 'churn.yaml'), DAG)
  place = await startSluice(['start', '--port', '0', '--json'], folder)
  url = String(place.first.url)
})
afterAll(async () => {
  await place.stop('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

describe('a run that misses its goal', () => {
  test('ends partial with exit code 3, shows what is missing, and its pivot reaches the goal', async () => {
    const missed = await cli('run', 'start', 'churn.yaml', '--watch')
    expect([missed.code, missed.err]).toEqual([3, ''])
    const first = await newest()
    const { out } = await cli('run', 'goal', first)
    expect(out.split('\n').slice(0, 5)).toEqual([
      `${first}  partial  PARTIAL  PASS x NOT_MET  attempt 1 of 2`,
      'goal     Nine of ten are right (0/1)',
      'trust    PASS: 90 (VERIFIED)',
      'quality  score 100',
      expect.stringMatching(/^ {2}NOT_MET {2}AC1 {2}.+ {2}\[train, attempt 1, event \d+\]$/),
    ])
    expect(out).toContain(`Start it: run pivot ${first}`)
    expect(out).toMatch(new RegExp(`attempt 1  ${first}  .+  PARTIAL  0/1`))
    expect((await cli('run', 'status', first)).out).toContain('PARTIAL, PASS x NOT_MET, attempt 1, 0/1 criteria')

    const pivoted = await cli('run', 'pivot', first, '--input', 'accuracy=0.95', '--feedback', 'More trees.', '--watch')
    expect([pivoted.code, pivoted.err]).toEqual([0, ''])
    expect(pivoted.out).toContain(`It tries again the goal of ${first}.`)
    const second = await newest()
    expect((await cli('run', 'status', second)).out).toContain(`Tries again the goal of run ${first}`)
    expect((await cli('run', 'status', first)).out).toContain(`Its goal is tried again by run ${second}`)
    expect((await cli('run', 'goal', second, '--json')).out).toMatch(/"final_status": "SUCCESS"/)
    const verified = await cli('run', 'verify', second)
    expect(verified.out).toMatch(/ok +31 a run with a goal ends as its one evaluation says/)
    expect(verified.code).toBe(0)

    const again = await cli('run', 'pivot', first)
    expect([again.code, again.out]).toEqual([1, ''])
    expect(again.err).toMatch(
      new RegExp(`its next attempt was made with other words or values, as run "${second}".*\\[pivot_made\\]`, 's'),
    )
    const refused = await cli('run', 'pivot', second)
    expect(refused.err).toMatch(/it ended completed \(SUCCESS, PASS x MET\)\..*\[not_to_pivot\]/s)
  })

  test('and misses it again has used up its attempts', { tags: ['thorough'] }, async () => {
    await cli('run', 'start', 'churn.yaml', '--watch')
    const first = await newest()
    const { code, out } = await cli('run', 'pivot', first, '--watch')
    expect([code, out]).toEqual([3, expect.stringContaining('Maximum attempts reached')])
    expect((await cli('run', 'goal', await newest())).out).toContain('BLOCKED  PASS x BLOCKED  attempt 2 of 2')
  })

  test('that has none is told so', async () => {
    writeFileSync(join(folder, 'plain.yaml'), DAG.replace(/goal_contract[\s\S]*(?=blocks:)/, ''))
    await cli('run', 'start', 'plain.yaml', '--watch')
    const { code, err } = await cli('run', 'goal', await newest())
    expect([code, err]).toEqual([1, expect.stringContaining('[no_goal]')])
  })
})
