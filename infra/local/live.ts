import { type Live, type LiveText, withPiece } from '../../shared/ports/live.ts'

/** What models are saying now, in memory: it is gone with the process. */
export function createLive(): Live {
  const speaking = new Map<string, Map<string, LiveText>>()
  const waiting = new Map<string, Set<() => void>>()
  return {
    speak(run, speaker) {
      const key = keyOf(run)
      const mine = { ...speaker, from: 0, text: '' }
      const set = (said: LiveText) => {
        const lanes = speaking.get(key) ?? new Map<string, LiveText>()
        speaking.set(key, lanes.set(speaker.lane, said))
      }
      set(mine)
      return {
        add(piece) {
          const before = speaking.get(key)?.get(speaker.lane)
          // Another question of the lane, or an attempt after this one, has begun.
          if (before === undefined || !isSame(before, speaker)) return
          set({ ...before, ...withPiece(before, piece) })
          for (const wake of waiting.get(key) ?? []) wake()
        },
        async end() {
          const lanes = speaking.get(key)
          const last = lanes?.get(speaker.lane)
          if (lanes === undefined || last === undefined || !isSame(last, speaker)) return
          lanes.delete(speaker.lane)
          if (lanes.size === 0) speaking.delete(key)
        },
      }
    },
    heard: async (run) => [...(speaking.get(keyOf(run))?.values() ?? [])],
    async said(run, signal) {
      const key = keyOf(run)
      const own = waiting.get(key) ?? new Set()
      waiting.set(key, own)
      const { promise, resolve } = Promise.withResolvers<void>()
      own.add(resolve)
      const stop = () => resolve()
      signal.addEventListener('abort', stop)
      if (signal.aborted) stop()
      await promise
      signal.removeEventListener('abort', stop)
      own.delete(resolve)
      if (own.size === 0 && waiting.get(key) === own) waiting.delete(key)
    },
  }
}

function keyOf({ tenant, run_id }: Parameters<Live['heard']>[0]): string {
  return `${tenant}/${run_id}`
}

function isSame(one: LiveText, { epoch, attempt, question }: Parameters<Live['speak']>[1]): boolean {
  return one.epoch === epoch && one.attempt === attempt && one.question === question
}
