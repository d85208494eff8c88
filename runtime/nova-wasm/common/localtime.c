/* Local time in the zone that a request names.
 *
 * WASI has no time zones: this libc's localtime is UTC. The host sends the zone's TZif data with
 * each request, and the functions below take the place of libc's (whose symbols are weak).
 * Formats: RFC 8536 (TZif version 2 and later, with its footer), POSIX.1 section 8.3 (TZ string).
 * The data comes from the host, so it is trusted to be true but not to be well formed: whatever
 * does not parse is UTC. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nova.h"

enum { NAME_MAX_BYTES = 15, TZIF_HEADER = 44 };

typedef struct {
    int32_t offset; /* seconds east of UTC */
    int daylight;
    const char *name;
} zone_type;

/* When a POSIX rule starts or ends: day J1-365, day 0-365, or month.week.weekday. */
typedef struct {
    char kind; /* 'J', '0' or 'M' */
    int day, week, month;
    int32_t seconds; /* local seconds after midnight */
} rule_date;

static struct {
    uint8_t *data; /* the request's bytes, or NULL for UTC */
    const uint8_t *times, *indices, *types;
    const char *names;
    uint32_t time_count, type_count, name_bytes;
    int has_rule, has_daylight; /* the footer: after the last transition */
    zone_type standard, daylight;
    rule_date start, end;
} zone;

static char standard_name[NAME_MAX_BYTES + 1], daylight_name[NAME_MAX_BYTES + 1];
static const zone_type utc = {0, 0, "UTC"};

static int64_t big_endian(const uint8_t *p, int bytes) {
    uint64_t value = p[0] & 0x80 ? ~(uint64_t)0 : 0;
    while (bytes--) value = value << 8 | *p++;
    return (int64_t)value;
}

static uint32_t count_at(const uint8_t *p) { return (uint32_t)big_endian(p, 4); }

/* --- calendar ------------------------------------------------------------------------------ */

/* Days from 1970-01-01 to a date of the proleptic Gregorian calendar; months may overflow. */
static int64_t days_from_civil(int64_t year, int64_t month0, int64_t day) {
    year += month0 / 12;
    month0 %= 12;
    if (month0 < 0) month0 += 12, year--;
    int64_t shifted = (month0 + 10) % 12; /* March is 0, so the leap day comes last */
    if (month0 < 2) year--;
    int64_t era = (year >= 0 ? year : year - 399) / 400, in_era = year - era * 400;
    int64_t day_of_year = (153 * shifted + 2) / 5 + day - 1;
    return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + day_of_year - 719468;
}

static int is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int64_t year_of(int64_t seconds) {
    struct tm tm;
    time_t t = seconds;
    return gmtime_r(&t, &tm) ? tm.tm_year + (int64_t)1900 : 1970;
}

/* --- the footer: a POSIX TZ string --------------------------------------------------------- */

static const char *parse_name(const char *s, char *name) {
    int quoted = *s == '<', length = 0;
    if (quoted) s++;
    while (*s && (quoted ? *s != '>' : (*s | 32) >= 'a' && (*s | 32) <= 'z')) {
        if (length < NAME_MAX_BYTES) name[length++] = *s;
        s++;
    }
    name[length] = 0;
    if (quoted && *s++ != '>') return NULL;
    return length ? s : NULL;
}

static const char *parse_number(const char *s, int *value) {
    if (*s < '0' || *s > '9') return NULL;
    for (*value = 0; *s >= '0' && *s <= '9'; s++)
        if (*value < 10000) *value = *value * 10 + (*s - '0');
    return s;
}

/* [+-]hh[:mm[:ss]] in seconds */
static const char *parse_time(const char *s, int32_t *seconds) {
    int sign = 1, part = 0, unit = 3600;
    if (*s == '+' || *s == '-') sign = *s++ == '-' ? -1 : 1;
    *seconds = 0;
    for (;;) {
        if (!(s = parse_number(s, &part))) return NULL;
        *seconds += part * unit;
        if (unit == 1 || *s != ':') break;
        unit /= 60;
        s++;
    }
    *seconds *= sign;
    return s;
}

static const char *parse_date(const char *s, rule_date *rule) {
    rule->kind = *s == 'J' || *s == 'M' ? *s++ : '0';
    if (rule->kind == 'M') {
        if (!(s = parse_number(s, &rule->month)) || *s++ != '.') return NULL;
        if (!(s = parse_number(s, &rule->week)) || *s++ != '.') return NULL;
        if (rule->month < 1 || rule->month > 12 || rule->week < 1 || rule->week > 5) return NULL;
    }
    if (!(s = parse_number(s, &rule->day))) return NULL;
    rule->seconds = 7200;
    return *s == '/' ? parse_time(s + 1, &rule->seconds) : s;
}

static int parse_footer(const char *s) {
    int32_t west;
    if (!(s = parse_name(s, standard_name)) || !(s = parse_time(s, &west))) return 0;
    zone.standard = (zone_type){-west, 0, standard_name};
    zone.has_daylight = 0;
    if (!*s) return 1;
    if (!(s = parse_name(s, daylight_name))) return 0;
    zone.daylight = (zone_type){zone.standard.offset + 3600, 1, daylight_name};
    if (*s && *s != ',') {
        if (!(s = parse_time(s, &west))) return 0;
        zone.daylight.offset = -west;
    }
    if (*s++ != ',' || !(s = parse_date(s, &zone.start))) return 0;
    if (*s++ != ',' || !(s = parse_date(s, &zone.end)) || *s) return 0;
    zone.has_daylight = 1;
    return 1;
}

/* The moment a rule names in a year, in seconds of its own local time. */
static int64_t rule_moment(const rule_date *rule, int64_t year) {
    int64_t day;
    if (rule->kind == 'M') {
        int64_t first = days_from_civil(year, rule->month - 1, 1);
        int64_t after = days_from_civil(year, rule->month, 1);
        int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
        day = first + (rule->day - weekday + 7) % 7 + 7 * (rule->week - 1);
        while (day >= after) day -= 7; /* week 5 means the last */
    } else {
        day = days_from_civil(year, 0, 1) + rule->day;
        if (rule->kind == 'J' && !(is_leap(year) && rule->day >= 60)) day--; /* J60 is 1 March */
    }
    return day * 86400 + rule->seconds;
}

static const zone_type *type_by_rule(int64_t seconds) {
    if (!zone.has_daylight) return &zone.standard;
    int64_t year = year_of(seconds + zone.standard.offset);
    int64_t start = rule_moment(&zone.start, year) - zone.standard.offset;
    int64_t end = rule_moment(&zone.end, year) - zone.daylight.offset;
    int daylight = start < end ? seconds >= start && seconds < end
                               : seconds >= start || seconds < end; /* southern hemisphere */
    return daylight ? &zone.daylight : &zone.standard;
}

/* --- TZif ---------------------------------------------------------------------------------- */

/* The bytes of one data block after its header, or 0 when it cannot fit. */
static size_t block_bytes(const uint8_t *header, size_t time_size, size_t available) {
    uint64_t total = (uint64_t)count_at(header + 32) * (time_size + 1);
    total += (uint64_t)count_at(header + 36) * 6 + count_at(header + 40);
    total += (uint64_t)count_at(header + 28) * (time_size + 4);
    total += (uint64_t)count_at(header + 24) + count_at(header + 20);
    return total <= available ? (size_t)total : (size_t)-1;
}

static int parse_tzif(char *data, size_t length) {
    const uint8_t *p = (const uint8_t *)data, *end = p + length;
    if (length < 2 * TZIF_HEADER || memcmp(p, "TZif", 4) || p[4] < '2') return 0;
    size_t skipped = block_bytes(p, 4, length - 2 * TZIF_HEADER);
    if (skipped == (size_t)-1) return 0;
    p += TZIF_HEADER + skipped; /* the first block is for readers of version 1 */
    if (memcmp(p, "TZif", 4)) return 0;
    size_t body = block_bytes(p, 8, (size_t)(end - p) - TZIF_HEADER);
    if (body == (size_t)-1) return 0;
    zone.time_count = count_at(p + 32);
    zone.type_count = count_at(p + 36);
    zone.name_bytes = count_at(p + 40);
    zone.times = p + TZIF_HEADER;
    zone.indices = zone.times + 8 * zone.time_count;
    zone.types = zone.indices + zone.time_count;
    zone.names = (const char *)zone.types + 6 * zone.type_count;
    if (!zone.type_count || !zone.name_bytes || zone.names[zone.name_bytes - 1]) return 0;
    for (uint32_t i = 0; i < zone.time_count; i++)
        if (zone.indices[i] >= zone.type_count) return 0;
    for (uint32_t i = 0; i < zone.type_count; i++)
        if (zone.types[6 * i + 5] >= zone.name_bytes) return 0;
    char *footer = (char *)p + TZIF_HEADER + body, *stop = data + length;
    zone.has_rule = 0;
    if (footer < stop && *footer == '\n') {
        char *line_end = memchr(footer + 1, '\n', (size_t)(stop - footer - 1));
        if (line_end) {
            *line_end = 0;
            zone.has_rule = parse_footer(footer + 1);
        }
    }
    return 1;
}

static zone_type type_at(uint32_t index) {
    const uint8_t *p = zone.types + 6 * index;
    return (zone_type){(int32_t)big_endian(p, 4), p[4], zone.names + p[5]};
}

static zone_type type_of(int64_t seconds) {
    if (!zone.data) return utc;
    uint32_t low = 0, high = zone.time_count; /* count of transitions at or before the moment */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (big_endian(zone.times + 8 * middle, 8) <= seconds) low = middle + 1;
        else high = middle;
    }
    if (low == zone.time_count && zone.has_rule) return *type_by_rule(seconds);
    return type_at(low ? zone.indices[low - 1] : 0);
}

/* --- what libc offers ---------------------------------------------------------------------- */

void nova_set_timezone(const uint8_t *tzif, size_t tzif_bytes) {
    free(zone.data);
    memset(&zone, 0, sizeof zone);
    if (tzif_bytes) {
        char *copy = malloc(tzif_bytes);
        if (copy) {
            memcpy(copy, tzif, tzif_bytes);
            if (parse_tzif(copy, tzif_bytes)) zone.data = (uint8_t *)copy;
            else free(copy);
        }
    }
}

void tzset(void) {} /* the zone belongs to the run, not to the environment */

struct tm *localtime_r(const time_t *restrict t, struct tm *restrict tm) {
    zone_type type = type_of(*t);
    time_t local;
    if (__builtin_add_overflow(*t, (time_t)type.offset, &local)) {
        errno = EOVERFLOW;
        return NULL;
    }
    if (!gmtime_r(&local, tm)) return NULL;
    tm->tm_isdst = type.daylight;
    tm->tm_gmtoff = type.offset;
    tm->tm_zone = type.name;
    return tm;
}

struct tm *localtime(const time_t *t) {
    static struct tm tm;
    return localtime_r(t, &tm);
}

/* The moment whose local time is `local` (seconds as if it were UTC). Where the clock is put
 * back, tm_isdst chooses, else the earlier moment; where it is put forward, the time that does
 * not exist is read with the offset before the change. A tm_isdst that is not in force shifts
 * the moment by the difference to the other offset of the year, as elsewhere. */
static time_t moment_of(int64_t local, int wants_daylight) {
    zone_type before = type_of(local - 86400), behind = type_of(local + 86400);
    int64_t first = local - before.offset, second = local - behind.offset;
    int first_exists = type_of(first).offset == before.offset;
    int second_exists = type_of(second).offset == behind.offset;
    int64_t chosen = !first_exists && second_exists ? second : first;
    if (wants_daylight < 0 || (!first_exists && !second_exists)) return chosen;
    if (first_exists && before.daylight == wants_daylight) return first;
    if (second_exists && behind.daylight == wants_daylight) return second;
    for (int month = 1; month <= 12; month++) {
        zone_type other = type_of(chosen + month * (int64_t)2629746);
        if (other.daylight == wants_daylight) return local - other.offset;
    }
    return chosen;
}

time_t mktime(struct tm *tm) {
    int64_t days = days_from_civil(tm->tm_year + (int64_t)1900, tm->tm_mon, tm->tm_mday);
    int64_t local = days * 86400 + tm->tm_hour * (int64_t)3600 + tm->tm_min * (int64_t)60 +
                    tm->tm_sec;
    time_t moment = moment_of(local, tm->tm_isdst < 0 ? -1 : tm->tm_isdst > 0);
    struct tm normal;
    if (!localtime_r(&moment, &normal)) {
        errno = EOVERFLOW;
        return -1;
    }
    *tm = normal;
    return moment;
}
