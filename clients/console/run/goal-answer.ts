import type { operations } from '../../api/schema.generated.ts'

export type GoalAnswer = operations['get-goal']['responses'][200]['content']['application/json']
