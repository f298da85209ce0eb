import { everyDayEmulator } from '../../emulators/dynamodb.ts'
import { admitTokens } from './dynamodb-tokens.ts'

const { name, start } = everyDayEmulator()
admitTokens(name, start)
