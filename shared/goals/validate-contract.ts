import { readGoalContract } from './read-contract.ts'

/** What is wrong with a goal contract, in words: one line an error, with its path (YAML text too). */
export function validateGoalContract(contract: unknown): {
  readonly isValid: boolean
  readonly errors: readonly string[]
} {
  const read = readGoalContract(contract)
  if (read.ok) return { isValid: true, errors: [] }
  return {
    isValid: false,
    errors: read.errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)),
  }
}
