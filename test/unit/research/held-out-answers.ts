import type { Told } from './answer-set.ts'

export const HELD_OUT: readonly Told[] = []
