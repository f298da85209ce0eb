import { useRef, useState } from 'preact/hooks'
import type { ApiProblem } from '../api.ts'
import { asProblem } from '../use-answer.ts'

interface Change {
  readonly isBusy: boolean
  readonly problem: ApiProblem | undefined
  /** Does nothing while the one before is on its way. Undefined: refused, and `problem` says why. */
  run<T>(change: () => Promise<T>): Promise<T | undefined>
}

/** One change at a time, as a button starts it. */
export function useChange(): Change {
  const [state, setState] = useState<Pick<Change, 'isBusy' | 'problem'>>({ isBusy: false, problem: undefined })
  // State is read at the next draw; two clicks may come before it.
  const isBusy = useRef(false)
  const run = async <T>(change: () => Promise<T>): Promise<T | undefined> => {
    if (isBusy.current) return undefined
    isBusy.current = true
    setState({ isBusy: true, problem: undefined })
    try {
      const value = await change()
      setState({ isBusy: false, problem: undefined })
      return value
    } catch (error) {
      setState({ isBusy: false, problem: asProblem(error) })
      return undefined
    } finally {
      isBusy.current = false
    }
  }
  return { ...state, run }
}
