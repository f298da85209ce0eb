import { matches } from './matches.ts'

/** The name existing DAG files use for matches. */
export const portMatches: typeof matches = { ...matches, type: 'port_matches' }
