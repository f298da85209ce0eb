import { minLength } from './min-length.ts'

/** The name existing DAG files use for min_length. */
export const portMinLength: typeof minLength = { ...minLength, type: 'port_min_length' }
