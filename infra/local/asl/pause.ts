import type { Frame } from './live-execution.ts'
import { STOPPED } from './scope.ts'

/** Waits until `at` (ms since 1970); rejects with STOPPED when the frame's scope ends first. */
export function pause(frame: Frame, at: number): Promise<void> {
  const { scope, execution } = frame
  const { alarms } = execution.engine
  return new Promise((resolve, reject) => {
    if (scope.ended) return reject(STOPPED)
    const stop = (): void => {
      alarms.cancel(alarm)
      reject(STOPPED)
    }
    const alarm = alarms.set(at, () => {
      scope.stops.delete(stop)
      resolve()
    })
    scope.stops.add(stop)
  })
}
