import { afterEach, describe, expect, test } from 'vitest'
import { ANA, asked, BEN, buttonsOf, decided, deploy, openSlackPlace, type SlackPlace, wordsOf } from './slack-place.ts'

let open: SlackPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

describe('an approval in Slack', () => {
  test('run, message, click, decision, resume, message locked, all over HTTP', async () => {
    open = await openSlackPlace()
    const { slack } = open
    const id = await open.start(deploy({ prompt: 'Deploy <!channel> *now*?' }))
    await open.until(id, asked)
    const message = await open.message(() => true)
    expect(buttonsOf(message)).toEqual(['sluice_approve', 'sluice_reject', 'sluice_open'])
    const words = wordsOf(message.blocks)
    expect(words).toContain('Approval needed: deploy')
    expect(words).toContain('Deploy &lt;!channel&gt; *now*?')
    expect(words).toContain('text\nanswer to build')
    expect(words).toContain(id)
    const answer = await slack.deliver(slack.clickBody(message, 'sluice_approve', ANA))
    expect(answer).toMatchObject({ status: 200, body: '' })
    expect(await open.until(id, decided)).toMatchObject({
      data: { decision: 'approve', by: { kind: 'slack', id: ANA }, via: 'slack' },
    })
    expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
    const locked = await open.message(({ ts, edits }) => ts === message.ts && edits > 0)
    expect(buttonsOf(locked)).toEqual([])
    expect(wordsOf(locked.blocks)).toMatch(/Approved: deploy[\s\S]*approved by slack:U0ANA at \S+ via slack/)
    expect(wordsOf(locked.blocks)).toContain(`<@${ANA}>`)
    const replies = await open.eventually(() => {
      const inThread = slack.messages.filter(({ thread_ts }) => thread_ts === message.ts)
      return inThread.some(({ text }) => text.includes('ended: completed')) && inThread
    })
    expect(replies.map(({ text }) => text.split(/ at |\n/)[0])).toEqual([
      '"deploy" was approved by slack:U0ANA',
      `Run ${id} ended: completed`,
    ])
    // It is settled after Slack has taken the last word.
    const { runs } = open.place.world
    await expect.poll(async () => (await runs.head({ tenant: 'main', run_id: id }))?.outbox).toEqual([])
  })

  test('of a run with an override the message says so before the question', async () => {
    open = await openSlackPlace()
    await open.start(deploy({ prompt: 'Deploy now?' }), { overrides: { 'deploy.text': 'loud' } })
    const words = wordsOf((await open.message(() => true)).blocks)
    expect(words).toMatch(
      /⚠ Not a plain start of the deployed document\n[\s\S]*deploy\.text = "loud"[\s\S]*Deploy now\?/,
    )
  })

  test('rejected with words from the modal: they are recorded, and told', async () => {
    open = await openSlackPlace({ users: { [ANA]: 'user:ana@example.com' } })
    const { slack } = open
    const id = await open.start(deploy())
    const message = await open.message(() => true)
    const opened = await slack.deliver(slack.clickBody(message, 'sluice_reject', ANA))
    expect(opened).toMatchObject({ status: 200, body: '' })
    expect(slack.views).toHaveLength(1)
    const [view] = slack.views
    if (view === undefined) throw new Error('no modal')
    expect(await slack.deliver(slack.submitBody(view, ANA, 'not <today>'))).toMatchObject({ status: 200, body: '' })
    const events = await open.ended(id)
    expect(events.find(decided)).toMatchObject({
      data: { decision: 'reject', by: { kind: 'user', id: 'ana@example.com' }, via: 'slack' },
    })
    expect(JSON.stringify(events.at(-1))).toContain('not <today>')
    const locked = await open.message(({ edits }) => edits > 0)
    expect(wordsOf(locked.blocks)).toMatch(/Rejected: deploy[\s\S]*by user:ana@example.com[\s\S]*not &lt;today&gt;/)
    expect(wordsOf(locked.blocks)).toContain(`<@${ANA}>`)
  })

  test('a rejection that needs a reason is not taken without one', async () => {
    open = await openSlackPlace()
    const { slack } = open
    const id = await open.start(deploy({ on_reject: 'iterate' }))
    const message = await open.message(() => true)
    await slack.deliver(slack.clickBody(message, 'sluice_reject_with_reason', ANA))
    const [view] = slack.views
    if (view === undefined) throw new Error('no modal')
    for (const words of [null, '', '  \n ']) {
      const answer = await slack.deliver(slack.submitBody(view, ANA, words))
      expect(answer.status).toBe(200)
      expect(JSON.parse(answer.body)).toEqual({
        response_action: 'errors',
        errors: { reason: 'Words are needed: they are recorded with the decision.' },
      })
    }
    expect((await open.events(id)).some(decided)).toBe(false)
  })

  test('several questions of a run are one thread, and each is decided by its own message', async () => {
    open = await openSlackPlace()
    const { slack } = open
    const [build, first] = deploy().blocks
    const id = await open.start({ name: 'two', blocks: [build, first, { ...first, id: 'again' }] })
    const [one, two] = await open.eventually(() => slack.messages.length === 2 && slack.messages)
    if (one === undefined || two === undefined) throw new Error('two messages')
    expect(two.thread_ts).toBe(one.ts)
    expect(two.aloud).toBe(true)
    await slack.deliver(slack.clickBody(two, 'sluice_approve', ANA))
    await open.until(id, decided)
    const late = await open.message(({ ts, edits }) => ts === two.ts && edits > 0)
    expect(buttonsOf(late)).toEqual([])
    await slack.deliver(slack.clickBody(one, 'sluice_approve', BEN))
    expect((await open.ended(id)).filter(decided)).toHaveLength(2)
  })

  test('a question whose block is stopped alone is asked no more, and the thread says so', async () => {
    open = await openSlackPlace()
    const { slack } = open
    const id = await open.start(deploy())
    const message = await open.message(() => true)
    await open.call('stop-run', id, { block_id: 'deploy' })
    const locked = await open.message(({ ts, edits }) => ts === message.ts && edits > 0)
    expect(buttonsOf(locked)).toEqual([])
    await open.message(({ text }) => text === '"deploy" needs no decision any more')
    await open.ended(id)
    await open.message(({ text }) => text.includes('ended: failed'))
    expect(slack.messages).toHaveLength(3)
  })

  test('what is still asked when its run is stopped loses its buttons', async () => {
    open = await openSlackPlace()
    const { slack } = open
    const id = await open.start(deploy())
    const message = await open.message(() => true)
    await open.call('stop-run', id, { reason: 'enough' })
    const locked = await open.message(({ ts, edits }) => ts === message.ts && edits > 0)
    expect(buttonsOf(locked)).toEqual([])
    expect(wordsOf(locked.blocks)).toContain('No longer needed: deploy')
    await open.message(({ text }) => text.includes('ended: cancelled'))
    expect(slack.messages).toHaveLength(2)
  })
})
