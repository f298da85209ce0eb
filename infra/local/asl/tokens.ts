import type { TokenAnswer } from '../../../shared/runs/machine.ts'

interface Slot {
  answer?: TokenAnswer
  wake?: (answer: TokenAnswer) => void
}

/** The tokens of running executions. For those of executions not resumed yet the journal is asked. */
export interface Tokens {
  /** From now on the token can be answered; an answer known already (resumed) is given at once by `wait`. */
  open(token: string, answer?: TokenAnswer): void
  /** Calls back when the answer comes, now if it is there. */
  wait(token: string, wake: (answer: TokenAnswer) => void): void
  drop(token: string): void
  /** Undefined: no such token is open. False: it has an answer. True: taken. */
  answer(token: string, answer: TokenAnswer): boolean | undefined
}

export function createTokens(): Tokens {
  const slots = new Map<string, Slot>()
  return {
    open(token, answer) {
      if (!slots.has(token)) slots.set(token, answer === undefined ? {} : { answer })
    },
    wait(token, wake) {
      const slot = slots.get(token)
      if (slot === undefined) return
      if (slot.answer !== undefined) wake(slot.answer)
      else slot.wake = wake
    },
    drop: (token) => void slots.delete(token),
    answer(token, answer) {
      const slot = slots.get(token)
      if (slot === undefined) return undefined
      if (slot.answer !== undefined) return false
      slot.answer = answer
      slot.wake?.(answer)
      return true
    },
  }
}
