import { afterEach, describe, expect, test } from 'vitest'
import { all, asks, block, expectVerified } from '../asks/ask-place.ts'
import { ANA, buttonsOf, decided, openSlackPlace, type SlackPlace, wordsOf } from './slack-place.ts'

let open: SlackPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** `probe` answers "answer to plan", which lacks the word. */
const PLAN = {
  name: 'release',
  blocks: [block('plan', [], { post_gates: [asks('has-figures', 'figures')] }), block('use', ['plan'])],
}

describe('a question in the middle of an attempt, in Slack', () => {
  test('is waived through the modal, with the reason, and the run goes on with the outputs as they are', async () => {
    open = await openSlackPlace()
    const { slack } = open
    const id = await open.start(PLAN)
    const message = await open.message(() => true)
    expect(buttonsOf(message)).toEqual(['sluice_waive', 'sluice_reject', 'sluice_open'])
    expect(wordsOf(message.blocks)).toContain('has-figures')
    expect(wordsOf(message.blocks)).toContain('text\nanswer to plan')

    await slack.deliver(slack.clickBody(message, 'sluice_waive', ANA))
    const [view] = slack.views
    if (view === undefined) throw new Error('no modal')
    expect((await open.events(id)).some(decided)).toBe(false)
    expect(JSON.parse((await slack.deliver(slack.submitBody(view, ANA, ' '))).body)).toMatchObject({
      response_action: 'errors',
    })
    expect(await slack.deliver(slack.submitBody(view, ANA, 'figures come tomorrow'))).toMatchObject({
      status: 200,
      body: '',
    })

    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(all(events, 'approval:decided').map(({ data }) => data)).toMatchObject([
      { decision: 'waive', by: { kind: 'slack', id: ANA }, via: 'slack' },
    ])
    expect(all(events, 'block:started').map(({ block_id }) => block_id)).toEqual(['plan', 'use'])
    const [failed, waived] = all(events, 'block:gate').map(({ data }) => data)
    expect(failed?.status).toBe('failed')
    expect(waived).toMatchObject({ status: 'waived', facts: { by: `slack:${ANA}`, via: 'slack' } })
    expect(waived?.reason).toContain('"figures come tomorrow"')
    const locked = await open.message(({ ts, edits }) => ts === message.ts && edits > 0)
    expect(buttonsOf(locked)).toEqual([])
    expect(wordsOf(locked.blocks)).toMatch(/Waived: plan[\s\S]*figures come tomorrow/)
    await expectVerified(open, id)
  })

  test('is rejected: the block fails for what its gate said, and nothing of it is published', async () => {
    open = await openSlackPlace()
    const { slack } = open
    const id = await open.start(PLAN)
    const message = await open.message(() => true)
    await slack.deliver(slack.clickBody(message, 'sluice_reject', ANA))
    const [view] = slack.views
    if (view === undefined) throw new Error('no modal')
    await slack.deliver(slack.submitBody(view, ANA, 'no figures, no plan'))
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { block_id: 'plan' } })
    expect(all(events, 'block:gate').map(({ data }) => data.status)).toEqual(['failed'])
    expect(all(events, 'block:completed')).toEqual([])
    const locked = await open.message(({ ts, edits }) => ts === message.ts && edits > 0)
    expect(buttonsOf(locked)).toEqual([])
    expect(wordsOf(locked.blocks)).toContain('Rejected: plan')
  })
})
