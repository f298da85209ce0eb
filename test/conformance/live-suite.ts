import { afterEach, describe, expect, test } from 'vitest'
import type { Live, LiveText } from '../../shared/ports/live.ts'

interface Opened {
  readonly live: Live
  close(): Promise<void>
}

const run = { tenant: 'main', run_id: 'run_1' }
const speaker = { lane: '0', block_id: 'write', epoch: 0, attempt: 1, question: 0 }

/** What any place owes to whoever listens to a model. */
export function liveSuite(place: string, open: () => Promise<Opened> | Opened): void {
  describe(`live text on ${place}`, () => {
    let opened: Opened | undefined
    afterEach(async () => {
      await opened?.close()
      opened = undefined
    })
    const start = async () => {
      opened = await open()
      return opened.live
    }

    test('is heard by who listens to the run, and by nobody else', async () => {
      const live = await start()
      live.speak(run, speaker).add('Hello')
      expect(await heard(live, 'Hello')).toEqual([{ ...speaker, from: 0, text: 'Hello' }])
      expect(await live.heard({ ...run, tenant: 'other' })).toEqual([])
      expect(await live.heard({ ...run, run_id: 'run_2' })).toEqual([])
    })

    test('grows piece by piece, each lane for itself', async () => {
      const live = await start()
      const [one, other] = [live.speak(run, speaker), live.speak(run, { ...speaker, lane: '0.1', item: 1 })]
      one.add('One, ')
      other.add('Other')
      one.add('two.')
      await heard(live, 'One, two.')
      await heard(live, 'Other')
      expect((await live.heard(run)).map(({ lane }) => lane).toSorted()).toEqual(['0', '0.1'])
    })

    test('keeps the end of a long answer, and says how much came before', async () => {
      const live = await start()
      const speech = live.speak(run, speaker)
      for (let n = 0; n < 100; n += 1) speech.add(`${n} `.padEnd(500, 'x'))
      speech.add('the end')
      for (;;) {
        const [said] = await live.heard(run)
        if (said?.text.endsWith('the end') === true) {
          expect(said.from).toBeGreaterThan(0)
          expect(said.from + said.text.length).toBe(100 * 500 + 'the end'.length)
          return
        }
        await live.said(run, AbortSignal.timeout(20))
      }
    })

    test('is of the last question alone, and gone when that is answered', async () => {
      const live = await start()
      const first = live.speak(run, speaker)
      first.add('a first try')
      await heard(live, 'a first try')
      await first.end()
      first.add(' too late')
      const second = live.speak(run, { ...speaker, question: 1 })
      second.add('again')
      expect(await heard(live, 'again')).toMatchObject([{ question: 1, from: 0 }])
      await second.end()
      expect(await live.heard(run)).toEqual([])
      await second.end()
    })

    test('does not wait longer than it is told to', async () => {
      const live = await start()
      const gone = new AbortController()
      const waiting = live.said(run, gone.signal)
      gone.abort()
      await waiting
      await live.speak(run, speaker).end()
      expect(await live.heard(run)).toEqual([])
    })
  })
}

/** Everything that is said, once this text is among it. */
async function heard(live: Live, text: string): Promise<readonly LiveText[]> {
  for (;;) {
    const said = await live.heard(run)
    if (said.some((one) => one.text === text)) return said
    await live.said(run, AbortSignal.timeout(20))
  }
}
