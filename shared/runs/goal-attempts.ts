import type { FinalStatus } from '../goals/two-gates.ts'

/** A failed attempt at the goal of a lineage: the evaluation of one of its runs that ended NOT_MET. */
export interface StoredGoalAttempt {
  /** From 1, without gaps. */
  readonly n: number
  readonly run_id: string
  /** ISO time. */
  readonly at: string
  readonly status: FinalStatus
  /** shared/goals/goal-attempt.ts. */
  readonly fingerprint: string
  /** Ids of the criteria it did not meet. */
  readonly unmet: readonly string[]
  readonly metCount: number
  readonly totalCount: number
}

/** The failed attempts of a root run and of all that came of it. */
export interface GoalAttempts {
  /** In order of their numbers. */
  goalAttempts(tenant: string, root: string): Promise<readonly StoredGoalAttempt[]>
  /**
   * Notes it as number `n`, once: false = another run's attempt has that number. A repeat of the same run's is true, and
   * what was noted first stays.
   */
  putGoalAttempt(tenant: string, root: string, n: number, attempt: Omit<StoredGoalAttempt, 'n'>): Promise<boolean>
}
